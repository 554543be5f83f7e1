"""Takes steps in a process that has the capture's library preloaded: ``steps.py WORLD MPI STEPS``.

A step is a name and what it is called with. "r2" is the third of some ints, "d2" of some numbers of 64 bits, "&f" the
routine f of the world; of "each", "x" is what differs, and "ri" the int of its place.
"""

import ctypes
import json
import os
import sys
from ctypes import CFUNCTYPE, c_char_p, c_int, c_int64, c_void_p
from threading import Thread
from typing import Any

capture, world, _, openmp = map(ctypes.CDLL, [os.environ["LD_PRELOAD"].split(":")[0], *sys.argv[1:3], "libgomp.so.1"])
ints, numbers = (c_int * 128)(), (c_int64 * 16)()
told: dict[int, int] = {}
EVENTS = {"parallel_begin": 3, "parallel_end": 4, "task_create": 5, "implicit_task": 7, "sync_region": 23}
SET, LOOKUP, BODY = CFUNCTYPE(c_int, c_int, c_void_p), CFUNCTYPE(c_void_p, c_char_p), CFUNCTYPE(None, c_void_p)
used: list[Any] = []  # as long as C knows of it


def given(word: Any) -> Any:
    match str(word)[0]:
        case "r" | "d" as which:
            of, size = (ints, 4) if which == "r" else (numbers, 8)
            return ctypes.byref(of, size * int(word[1:]))
        case "&":
            return ctypes.cast(getattr(world, word[1:]), c_void_p)
    return c_int64(word)


def starts_a_tool() -> None:
    """As OpenMP 5.0 says in section 4.2."""
    capture.ompt_start_tool.restype = ctypes.POINTER(c_void_p)
    tool = capture.ompt_start_tool(201811, b"made")
    if tool[2]:
        print("other tool", tool[2])
        return
    initialize = CFUNCTYPE(c_int, LOOKUP, c_int, c_void_p)(tool[0])
    sets = SET(lambda event, callback: told.update({event: callback}) or 5)
    finds = LOOKUP(lambda name: ctypes.cast(sets, c_void_p).value if name == b"ompt_set_callback" else None)
    print("without callbacks", initialize(LOOKUP(lambda _: None), 0, None), "with", initialize(finds, 0, None))
    CFUNCTYPE(None, c_void_p)(tool[1])(None)


def takes(steps: list[list[Any]]) -> None:
    for name, *words in steps:
        match name:
            case "set":
                c_int64.in_dll(world, words[0]).value = words[1]
            case "ints":
                ints[words[0]] = words[1]
            case "show":
                print(*words, *(c_int64.in_dll(world, w).value for w in words), *(numbers if not words else ()))
            case "team":
                used.append(BODY(lambda _, of=words: takes(of[openmp.omp_get_thread_num()])))
                capture.GOMP_parallel(used[-1], None, len(words), 0)
            case "meanwhile":
                used.append(BODY(lambda _, of=words: takes([["thread", *of]])))
                c_void_p.in_dll(world, name).value = ctypes.cast(used[-1], c_void_p).value
            case "thread":
                other = Thread(target=takes, args=words)
                other.start()
                other.join()
            case "each":
                first, by, count, text = *words[:3], json.dumps(words[3])
                for i in range(count):
                    takes(json.loads(text.replace('"x"', str(first + by * i)).replace('"ri"', f'"r{i}"')))
            case "next file":
                print(name, file := os.dup(2))
                os.close(file)
            case "fork":
                if (child := os.fork()) == 0:
                    takes(*words)
                    os._exit(0)
                os.waitpid(child, 0)
            case "tool":
                starts_a_tool()
            case _ if name in EVENTS:
                CFUNCTYPE(None)(told[EVENTS[name]])(*map(given, words))
            case _:
                getattr(capture if name[0].isupper() else world, name)(*map(given, words))


takes(json.loads(sys.argv[3]))
