import { run } from './run.ts'

/** The programs that this check does not install, and the way to get each. */
const NEEDED = [
  {
    command: ['go', 'version'],
    install: 'Go 1.24 or newer: https://go.dev/doc/install, or `apt-get install golang-go`',
  },
  { command: ['javac', '-version'], install: 'a JDK 17 or newer: `apt-get install openjdk-17-jdk-headless`' },
  { command: ['mvn', '--version'], install: 'Maven 3.8 or newer: `apt-get install maven`' },
  {
    command: ['python3', '-c', 'import ensurepip, sys; assert sys.version_info >= (3, 11)'],
    install: 'Python 3.11 or newer with venv: `apt-get install python3 python3-venv`',
  },
] as const

/**
 * Requires the languages of the generated clients.
 *
 * @throws Error that names everything that is missing
 */
export async function requirePrograms(): Promise<void> {
  const runs = await Promise.all(
    NEEDED.map(({ command }) =>
      run(command).then(
        () => true,
        () => false,
      ),
    ),
  )
  const missing = NEEDED.filter((_, place) => !runs[place])
  if (missing.length === 0) return
  const list = missing.map(
    ({ command: [program], install }) => `- ${program} is missing or too old. Install ${install}.`,
  )
  throw new Error(`check:clients compiles clients in Go, Java and Python:\n${list.join('\n')}`)
}
