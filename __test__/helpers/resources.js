'use strict';

/** What this process holds, as Linux counts it in /proc/self. */

const { readFileSync, readdirSync, readlinkSync } = require('node:fs');

/** The names of this process's threads. */
function threads() {
  return readdirSync('/proc/self/task').map((task) => readFileSync(`/proc/self/task/${task}/comm`, 'utf8').trim());
}

/** Open descriptors. Sockets that listen are among them. */
function descriptors() {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The descriptor of the listing itself is closed by now.
      return [];
    }
  });
}

/** The ports on which this process listens, over both families. */
function listeningPorts() {
  const inodes = new Set(descriptors().flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
  const LISTEN = '0A';
  return ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/self/net/${family}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === LISTEN && inodes.has(columns[9]))
      .map((columns) => parseInt(columns[1].split(':')[1], 16)),
  );
}

/** Resident memory in MiB, once garbage is collected if Node runs with --expose-gc. */
function residentMiB() {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}

module.exports = { threads, descriptors, listeningPorts, residentMiB };
