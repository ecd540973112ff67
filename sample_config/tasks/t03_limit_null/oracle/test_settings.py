"""Hidden test: absent, null, falsy and unknown keys, through the library and through the command."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.environ["REPO_DIR"])

from relay.__main__ import main
from relay.limits import fits, may_send
from relay.settings import load

DEFAULTS = {
    "queue": {"per_minute": 60, "keep_days": 5, "bounce": True},
    "sender": {"domain": "example.org", "max_bytes": 1048576},
}


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "site.json")

    def load(self, site):
        self.path.write_text(json.dumps(site))
        return load(self.path)

    def test_null_stays_null(self):
        settings = self.load({"queue": {"per_minute": None}, "sender": {"max_bytes": None}})
        self.assertIsNone(settings["queue"]["per_minute"])
        self.assertIsNone(settings["sender"]["max_bytes"])
        self.assertEqual(settings["queue"]["keep_days"], 5)
        self.assertTrue(may_send(settings, 10**9))
        self.assertTrue(fits(settings, 10**12))

    def test_absent_keys_and_sections_keep_their_defaults(self):
        self.assertEqual(load(), DEFAULTS)
        self.assertEqual(self.load({}), DEFAULTS)
        self.assertEqual(self.load({"queue": {}}), DEFAULTS)

    def test_falsy_values_are_values(self):
        settings = self.load({"queue": {"per_minute": 0, "bounce": False}, "sender": {"domain": ""}})
        self.assertEqual(settings["queue"], {"per_minute": 0, "keep_days": 5, "bounce": False})
        self.assertEqual(settings["sender"], {"domain": "", "max_bytes": 1048576})
        self.assertFalse(may_send(settings, 0))

    def test_command(self):
        out = io.StringIO()
        self.path.write_text('{"queue": {"per_minute": null}}')
        with contextlib.redirect_stdout(out):
            self.assertEqual(main([str(self.path)]), 0)
        self.assertEqual(json.loads(out.getvalue()), {**DEFAULTS, "queue": {**DEFAULTS["queue"], "per_minute": None}})

    def test_unknown_names_are_refused(self):
        for site in ({"sections": {}}, {"queue": {"per_hour": None}}):
            self.path.write_text(json.dumps(site))
            with self.subTest(site=site), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(main([str(self.path)]), 1)


if __name__ == "__main__":
    unittest.main()
