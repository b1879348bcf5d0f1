"""A small ACP agent on standard streams, written without any SDK.

Every prompt is a request it sends to its editor, as JSON; it tells what the editor answered.
"""

import json
import sys


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


prompt = None
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "session/new":
        say({"id": message["id"], "result": {"sessionId": "s-1"}})
    elif method == "session/prompt":
        prompt = message["id"]
        say({"id": "a-1", **json.loads(message["params"]["prompt"][0]["text"])})
    elif method == "session/cancel":
        pass
    elif method is None and message.get("id") == "a-1":
        told = message.get("result", message.get("error"))
        say({"id": prompt, "result": {"stopReason": "end_turn", "told": told}})
    elif method is not None:
        say({"id": message.get("id"), "result": {}})
