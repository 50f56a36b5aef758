"""A part of it."""

import time

from hookless.worker import progress

progress(1)
time.sleep(0.2)
value = 5
