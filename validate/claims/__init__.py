"""Claims of others, as data, and the model's value for each.

`form.py` is what a claim says, `checks.py` names the few functions that compute our values (`answers/`), `judge.py`
holds one against the other, `wrong_machines.py` asks whether agreement could have been otherwise. No function that
computes sees the expected value.
"""
