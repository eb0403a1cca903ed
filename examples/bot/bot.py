"""A remote player in Flask: it makes the first legal move. See README.md beside this file."""

import os
from typing import Any

from flask import Flask, request
from standardwebhooks import Webhook

app = Flask(__name__)
webhook = Webhook(os.environ["BOT_SECRET"])


@app.post("/")
def choose_move() -> Any:
    """Answer a message with the move to make."""
    message = webhook.verify(request.get_data(), dict(request.headers))  # raises if it is not from the service
    if message["type"] == "webhook.challenge":  # comes first: whoever answers it wants to be asked for moves
        return {"challenge": message["data"]["challenge"]}
    return message["data"]["view"]["legal_moves"][0]
