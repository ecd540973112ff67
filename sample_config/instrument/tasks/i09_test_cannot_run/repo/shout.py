"""Says a word loudly."""

import sys


def shout(word):
    return word + "!"


if __name__ == "__main__":
    print(shout(sys.argv[1]))
