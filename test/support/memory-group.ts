import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The memory controller of cgroups, version 1. */
const MEMORY = '/sys/fs/cgroup/memory'

/** A group of processes whose memory is limited: the kernel ends what needs more. */
export interface MemoryGroup {
  /** The file that takes the pid of a process that joins. */
  readonly procs: string
  /** Removes the group, when its processes have ended. */
  remove(): void
}

/** True when this process may make a group below its own. Version 2 does not let a group that has processes limit others below it. */
export function canLimitMemory(): boolean {
  try {
    createMemoryGroup(64).remove()
    return true
  } catch {
    return false
  }
}

/** Makes a group with this limit in MB, below the one of this process. */
export function createMemoryGroup(megabytes: number): MemoryGroup {
  const path = join(MEMORY, ownGroup(), `relayer-${crypto.randomUUID()}`)
  mkdirSync(path)
  writeFileSync(join(path, 'memory.limit_in_bytes'), String(megabytes * 1024 * 1024))
  return {
    procs: join(path, 'cgroup.procs'),
    remove: () => rmdirSync(path),
  }
}

/** The path of this process's group, which is that of the container where it is mounted as the top. */
function ownGroup(): string {
  const [, group = '/'] = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? []
  return existsSync(join(MEMORY, group)) ? group : '/'
}
