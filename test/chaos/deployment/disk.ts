import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const megabytes = 400;

/** A small disk of its own, in memory, that can be filled up. */
export interface Disk {
  directory: string;
  fill(): void;
  /** Frees it again. */
  empty(): void;
  remove(): void;
}

/** Mounts it at a directory that must not exist; undefined where this process may not mount. */
export function mountDisk(directory: string): Disk | undefined {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const options = `size=${megabytes}m,mode=755`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'chaos', directory]).status !== 0) return undefined;
  const ballast = join(directory, 'ballast');
  return {
    directory,
    fill() {
      const file = openSync(ballast, 'w');
      try {
        for (let size = 1 << 20; size >= 4_096; ) if (!writes(file, size)) size >>= 1;
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    remove: () => void spawnSync('umount', ['-l', directory]),
  };
}

function writes(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
