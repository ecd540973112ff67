"""Where attempts run: one implementation over argv-prefix transports, with facts and a capability probe."""
