import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { API_KEY, type Service } from '../support/service.ts'

const CLIENT = new URL('../../clients/typescript/', import.meta.url)
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Runs the first program below a heading of the client's README against relayer `main`, and gives what it prints. It fails when the program does. */
export async function runReadmeProgram(
  { url }: Service,
  heading: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-client-'))
  try {
    await symlink(PACKAGES, join(folder, 'node_modules'))
    await writeFile(join(folder, 'start.ts'), await programOf(heading))
    const env = { ...process.env, RELAYER_URL: url, RELAYER_API_KEY: API_KEY, RELAYER_ID: 'main', ...more }
    const program = [join(folder, 'start.ts')]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, program, { env })
    if (stderr !== '') throw new Error(stderr)
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The program imports the sources of the package instead of an installed one. */
async function programOf(heading: string): Promise<string> {
  const readme = await readFile(new URL('README.md', CLIENT), 'utf8')
  const [, section] = readme.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [, program] = /```ts\n([\s\S]*?)```/.exec(section ?? '') ?? []
  if (program === undefined) throw new Error(`the README has no program below ${heading}`)
  return program.replaceAll(/'multichain-relayer-client(?:\/([\w-]+))?'/g, (_import, entry = 'index') =>
    JSON.stringify(new URL(`src/${entry}.ts`, CLIENT)),
  )
}
