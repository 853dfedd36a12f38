<?php

declare(strict_types=1);

// Debian's Guzzle; with Composer, vendor/autoload.php loads both.
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'Menus\\')) {
        require __DIR__ . '/../generated/lib/' . str_replace('\\', '/', substr($class, strlen('Menus\\'))) . '.php';
    }
});
