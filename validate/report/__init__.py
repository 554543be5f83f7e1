"""A validation as one HTML page that needs nothing else: `pready.validate.report.page.html`."""
