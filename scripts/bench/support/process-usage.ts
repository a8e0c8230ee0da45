import { readFile } from 'node:fs/promises'
import type { ServiceProcess } from '../../../test/support/process.ts'

/** Memory of a process of Linux, in MB: what it has resident, and the most that it had. */
export async function memoryOf({ child }: ServiceProcess): Promise<{ resident: number; peak: number }> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}
