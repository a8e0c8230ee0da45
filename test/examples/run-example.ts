import { fileURLToPath } from 'node:url'
import { type RunningProgram, startFile } from '../client/start-program.ts'
import { API_KEY, type Service } from '../support/service.ts'

interface ExampleOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program of `examples` against relayer `main`, as a reader does. It finds the client where `npm ci` has put it. */
export function startExample(
  { url }: Service,
  name: string,
  { args = [], env = {} }: ExampleOptions = {},
): RunningProgram {
  const file = fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url))
  return startFile(file, {
    args,
    env: { RELAYER_URL: url, RELAYER_API_KEY: API_KEY, RELAYER_ID: 'main', ...env },
  })
}

/** Runs such a program, and gives what it prints. It fails when the program does. */
export async function runExample(service: Service, name: string, options?: ExampleOptions): Promise<string> {
  const program = startExample(service, name, options)
  try {
    return await program.ended()
  } finally {
    await program.stop()
  }
}
