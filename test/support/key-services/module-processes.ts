import { execFileSync } from 'node:child_process'

/** Returns the processes of PKCS#11 libraries that this process has started. */
export function moduleProcesses(parent: number): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return listed.split('\n').flatMap((line) => {
    const [pid, found, ...args] = line.trim().split(/\s+/)
    return Number(found) === parent && args.join(' ').includes('pkcs11/process/main') ? [Number(pid)] : []
  })
}
