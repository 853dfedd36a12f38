<?php

[$patterns, $texts] = json_decode(stream_get_contents(STDIN), flags: JSON_THROW_ON_ERROR);
$matches = fn ($pattern, $text) => match (preg_match('/' . str_replace('/', '\/', $pattern) . '/u', $text)) {
    1 => true,
    0 => false,
    false => throw new RuntimeException("{$pattern}: " . preg_last_error_msg()),
};
set_error_handler(fn ($level, $message) => throw new RuntimeException($message));
echo json_encode(array_map(fn ($pattern) => array_map(fn ($text) => $matches($pattern, $text), $texts), $patterns));
