import { loadContract } from '../../src/contract/document.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { API_KEY, RECEIVER } from '../support/service.ts'
import type { Attack, AttackContext, Report } from './attack.ts'
import { type AuthForm, authForms } from './auth-forms.ts'
import { sendRaw } from './raw-request.ts'
import { type SampleRequest, sampleRequests } from './requests.ts'
import { createTally, type Tally } from './tally.ts'

/** Calls every operation in every form without a valid key, and checks that each answer is 401 and that nothing changed. */
export const auth: Attack = { name: 'auth', run }

/** Paths that a router could take for others. */
const PATHS = [
  '//api/v1/relayers',
  '/api/v1//relayers',
  '/api/v1/health/../relayers',
  '/api/v1/health/%2e%2e/relayers',
  '/api/v1/health/..;/relayers',
  '/api/v1/relayers;/health',
  '/api/v1/relayers%2fmain',
  '/api/v1/relayers/main%2ftransactions',
  '/API/V1/relayers',
  '/api/v1/relayers/',
  '/api/v1/relayers?/api/v1/health',
  '/api/v1/relayers#/api/v1/health',
  '/api/v1/relayers%00/health',
  '/api/v1/__proto__',
  '/docs/../api/v1/relayers',
  '/docs/%2e%2e/api/v1/relayers',
  '\\api\\v1\\relayers',
  'http://localhost/api/v1/relayers',
  '/metrics',
  '/api/v1/healthx',
  '/api/v1/ready/relayers',
] as const

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const contract = await loadContract()
  const scenario = await startScenario()
  try {
    const { id } = await scenario.send({ to: RECEIVER, value: 1 })
    await scenario.reach(id, 'submitted')
    const ids = {
      relayer_id: 'main',
      transaction_id: id,
      notification_id: 'ops',
      signer_id: 'dev-0',
      network_id: 'evm:anvil',
    }
    const before = await stateOf(scenario)
    const { url } = scenario.service
    for (const form of authForms(API_KEY, random.fork('keys'))) {
      if (tally.isFull()) break
      const requests = sampleRequests(contract, ids)
      await Promise.all(requests.map((request) => tryOperation(tally, { url, form, request })))
    }
    await Promise.all(PATHS.map((path) => tryPath(tally, url, path)))
    const after = await stateOf(scenario)
    tally.check(after === before, () => `the state changed from ${before} to ${after}`)
    await checkKey(tally, url)
  } finally {
    await scenario.stop()
  }
  return tally.report()
}

interface Trial {
  readonly url: string
  readonly form: AuthForm
  readonly request: SampleRequest
}

async function tryOperation(tally: Tally, { url, form, request }: Trial): Promise<void> {
  const { operation, path, contentType, body } = request
  const { method } = operation
  const type = contentType === undefined ? [] : ['Content-Type', contentType]
  const headers = [...form.headers, ...type]
  const answer = await sendRaw({ url, method, path: `${path}${form.query ?? ''}`, headers, body })
  // An operation that needs no key may refuse an unknown parameter.
  const expected = (operation.secured ? [401] : [200, 400]).includes(answer.status)
  tally.check(
    expected,
    () => `${operation.id} with ${form.name} answered ${answer.status}: ${answer.text.slice(0, 200)}`,
  )
}

async function tryPath(tally: Tally, url: string, path: string): Promise<void> {
  const { status, text } = await sendRaw({ url, method: 'GET', path, headers: [] })
  tally.check(
    [400, 401, 404].includes(status),
    () => `${path} without a key answered ${status}: ${text.slice(0, 200)}`,
  )
}

/** The valid key has to open, or all the refusals say nothing. */
async function checkKey(tally: Tally, url: string): Promise<void> {
  const headers = ['Authorization', `Bearer ${API_KEY}`]
  const { status } = await sendRaw({ url, method: 'GET', path: '/api/v1/relayers', headers })
  tally.check(status === 200, () => `the valid key was answered ${status}`)
}

const STATE = [
  '/relayers',
  '/relayers/main/transactions',
  '/relayers/other/transactions',
  '/signers',
  '/notifications',
  '/notifications/ops/deliveries?status=dead',
  '/networks?per_page=100',
  '/events?after=0',
] as const

/** Everything that an operation could change, as text. */
async function stateOf({ service }: Scenario): Promise<string> {
  const answers = await Promise.all(STATE.map((path) => service.api<unknown>('GET', path)))
  const show = (key: string, value: unknown) => {
    // The age of the newest block changes by itself.
    if (key === 'head') return undefined
    return typeof value === 'bigint' ? String(value) : value
  }
  return answers.map(({ body }) => JSON.stringify(body.data, show)).join('\n')
}
