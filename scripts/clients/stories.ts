import type { Scenario } from '../../test/support/scenario.ts'
import { API_KEY } from '../../test/support/service.ts'
import { GO_MODULE, PROGRAMS, PYTHON } from './paths.ts'
import { PYTHON_CLIENTS } from './python.ts'
import { run } from './run.ts'
import type { Step, Toolchain } from './steps.ts'

/** The programs that send, read, replace and cancel with a generated client. */
export function stories(scenario: Scenario): Step[] {
  const python = (name: string) => [`${PYTHON}/bin/python`, `${PROGRAMS}/stories/${name}.py`]
  const go = (name: string) => [`${GO_MODULE}/bin/${name}`]
  const story = (name: string, program: readonly string[], needs?: Toolchain): Step => ({
    ...(needs && { needs }),
    name: `${name}: sends, reads, replaces and cancels on a running service`,
    run: () => tell(scenario, program),
  })
  return [
    story('oapi-codegen', go('oapi_codegen'), 'go'),
    story('openapi-generator go', go('openapi_generator'), 'java'),
    story('openapi-python-client', python('openapi_python_client')),
    story('openapi-generator python', python('openapi_generator'), 'java'),
  ]
}

/** The program checks every answer; its last line is the id of the transaction, whose end is checked here. */
async function tell({ service, reach, mine }: Scenario, program: readonly string[]): Promise<void> {
  const env = { BASE_URL: service.url, API_KEY, PYTHONPATH: PYTHON_CLIENTS }
  const output = await run(program, { env })
  const id = output.trim().split('\n').at(-1) ?? ''
  const { attempts = [] } = await reach(id, 'canceled', () => void mine())
  const kinds = attempts.map(({ kind }) => kind)
  if (kinds.join() !== 'send,replace,cancel') throw new Error(`the attempts are ${kinds.join()}`)
}
