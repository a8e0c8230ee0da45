import { readFile } from 'node:fs/promises'
import { type RunningProgram, startProgram } from '../client/start-program.ts'
import { API_KEY, type Service } from '../support/service.ts'

interface ExampleOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program of `examples` against relayer `main`. */
export async function startExample(
  { url }: Service,
  name: string,
  { args = [], env = {} }: ExampleOptions = {},
): Promise<RunningProgram> {
  const source = await readFile(new URL(`../../examples/${name}.ts`, import.meta.url), 'utf8')
  const all = { RELAYER_URL: url, RELAYER_API_KEY: API_KEY, RELAYER_ID: 'main', ...env }
  return startProgram({ source, args, env: all })
}

/** Runs such a program, and gives what it prints. It fails when the program does. */
export async function runExample(service: Service, name: string, options?: ExampleOptions): Promise<string> {
  const program = await startExample(service, name, options)
  try {
    return await program.ended()
  } finally {
    await program.stop()
  }
}
