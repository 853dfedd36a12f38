import json
import re
import sys

patterns, texts = json.load(sys.stdin)
print(json.dumps([[re.search(pattern, text) is not None for text in texts] for pattern in patterns]))
