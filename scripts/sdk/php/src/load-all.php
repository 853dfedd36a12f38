<?php

declare(strict_types=1);

require 'autoload.php';

// Loads every generated class; a file that does not compile, or lacks its class, ends it.
$folder = dirname(__DIR__) . '/generated/lib/';
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder)) as $file) {
    if ($file->getExtension() !== 'php') {
        continue;
    }
    $class = 'Menus\\' . strtr(substr($file->getPathname(), strlen($folder), -strlen('.php')), '/', '\\');
    if (!class_exists($class) && !interface_exists($class)) {
        exit("{$file} has no {$class}\n");
    }
}
