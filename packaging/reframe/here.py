"""ReFrame's settings for one machine without a scheduler."""

site_configuration = {
    "systems": [
        {
            "name": "here",
            "hostnames": [".*"],
            "partitions": [{"name": "local", "scheduler": "local", "launcher": "local", "environs": ["builtin"]}],
        }
    ],
}
