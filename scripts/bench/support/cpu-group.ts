import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the kernel limits the CPU time of groups of processes. */
const ROOT = '/sys/fs/cgroup'

/** The kernel gives each group its time anew after this many microseconds. */
const PERIOD_US = 50_000

/** A group of processes that get this part of a core at most. */
export interface CpuGroup {
  /** Moves a running process into the group, with all of its threads. */
  add(pid: number): void
  /** Removes the group, when its processes have ended. */
  remove(): void
}

/**
 * Makes a group, with version 1 or 2 of cgroups.
 * @throws Error where this process may not, as on most machines without root
 */
export function createCpuGroup(share: number): CpuGroup {
  const isFirst = existsSync(join(ROOT, 'cpu'))
  const path = join(isFirst ? join(ROOT, 'cpu', ownGroup()) : ROOT, `relayer-${crypto.randomUUID()}`)
  mkdirSync(path)
  const quota = Math.round(PERIOD_US * share)
  if (isFirst) {
    writeFileSync(join(path, 'cpu.cfs_period_us'), String(PERIOD_US))
    writeFileSync(join(path, 'cpu.cfs_quota_us'), String(quota))
  } else {
    writeFileSync(join(path, 'cpu.max'), `${quota} ${PERIOD_US}`)
  }
  return {
    add: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)),
    remove: () => rmdirSync(path),
  }
}

/** Returns the reason for which no group can be made; undefined if one can. */
export function whyNoCpuGroup(): string | undefined {
  try {
    createCpuGroup(1).remove()
    return undefined
  } catch (error) {
    return `needs cgroups that limit the CPU: ${error instanceof Error ? error.message : error}`
  }
}

/** The path of this process's group in version 1, which is that of the container where it is mounted as the top. */
function ownGroup(): string {
  const [, group = '/'] =
    /^\d+:(?:[\w=,]*,)?cpu(?:,[\w=,]*)?:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? []
  return existsSync(join(ROOT, 'cpu', group)) ? group : '/'
}
