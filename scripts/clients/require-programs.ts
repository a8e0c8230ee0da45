import { run } from './run.ts'
import type { Toolchain } from './steps.ts'

/** The programs that this check does not install, and the way to get each. */
const NEEDED = [
  {
    command: ['go', 'version'],
    toolchain: 'go',
    install: 'Go 1.24 or newer: https://go.dev/doc/install, or `apt-get install golang-go`',
  },
  {
    command: ['javac', '-version'],
    toolchain: 'java',
    install: 'a JDK 17 or newer: `apt-get install openjdk-17-jdk-headless`',
  },
  {
    command: ['mvn', '--version'],
    toolchain: 'java',
    install: 'Maven 3.8 or newer: `apt-get install maven`',
  },
  {
    toolchain: undefined,
    command: ['python3', '-c', 'import ensurepip, sys; assert sys.version_info >= (3, 11)'],
    install: 'Python 3.11 or newer with venv: `apt-get install python3 python3-venv`',
  },
] as const

/**
 * Requires the languages of the generated clients.
 *
 * @param toolchains those that the chosen steps need beside Node and Python
 * @throws Error that names everything that is missing
 */
export async function requirePrograms(toolchains: ReadonlySet<Toolchain>): Promise<void> {
  const needed = NEEDED.filter(({ toolchain }) => toolchain === undefined || toolchains.has(toolchain))
  const runs = await Promise.all(
    needed.map(({ command }) =>
      run(command).then(
        () => true,
        () => false,
      ),
    ),
  )
  const missing = needed.filter((_, index) => !runs[index])
  if (missing.length === 0) return
  const list = missing.map(
    ({ command: [program], install }) => `- ${program} is missing or too old. Install ${install}.`,
  )
  throw new Error(`check:clients cannot run all of its steps:\n${list.join('\n')}`)
}
