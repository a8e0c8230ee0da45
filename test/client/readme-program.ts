import { readFile } from 'node:fs/promises'
import { API_KEY, type Service } from '../support/service.ts'
import { startProgram } from './start-program.ts'

const README = new URL('../../clients/typescript/README.md', import.meta.url)

/** Runs the first program below a heading of the client's README against relayer `main`, and gives what it prints. It fails when the program does. */
export async function runReadmeProgram(
  { url }: Service,
  heading: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { RELAYER_URL: url, RELAYER_API_KEY: API_KEY, RELAYER_ID: 'main', ...more }
  const program = await startProgram({ source: await programOf(heading), env })
  try {
    return await program.ended()
  } finally {
    await program.stop()
  }
}

async function programOf(heading: string): Promise<string> {
  const readme = await readFile(README, 'utf8')
  const [, section] = readme.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [, program] = /```ts\n([\s\S]*?)```/.exec(section ?? '') ?? []
  if (program === undefined) throw new Error(`the README has no program below ${heading}`)
  return program
}
