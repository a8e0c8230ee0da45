"""Fails when PyYAML, a reader of YAML 1.1, does not find in openapi.yaml what the service serves as openapi.json."""

import json
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as text, open(sys.argv[2], encoding="utf-8") as served:
    assert yaml.safe_load(text) == json.load(served), "PyYAML reads another document"
