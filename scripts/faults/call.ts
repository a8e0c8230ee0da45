import { isAway } from '../../src/database/errors.ts'
import type { Answer, Transaction } from '../../test/support/service.ts'
import { type HistoryRun, pathOf, targetOf } from './history-run.ts'
import type { Ask, Content } from './ledger.ts'
import type { TestBed } from './test-bed.ts'

/** A request with what it asks for, and why it may end otherwise than executed. */
export interface PlannedRequest {
  readonly content: Content
  readonly body: object
  readonly may?: Pick<Ask, 'mayRevert' | 'mayFail' | 'mayExpire' | 'priceRefusals'>
  /** How long it may wait to be executed; no end of its own if absent. */
  readonly validForMs?: number | undefined
}

/** A new transaction. */
export async function send(
  run: HistoryRun,
  account: number,
  { content, body, may, validForMs }: PlannedRequest,
): Promise<void> {
  const { testBed, ledger } = run
  const limited = validForMs === undefined ? {} : { mayExpire: true }
  const ask = ledger.open({ kind: 'send', account, content, ...may, ...limited })
  const validity =
    validForMs === undefined ? {} : { valid_until: new Date(testBed.now() + validForMs).toISOString() }
  await call(run, ask, { method: 'POST', path: pathOf(testBed, account), body: { ...body, ...validity } })
}

/** A replacement of what was accepted. Does nothing as long as nothing was. */
export async function replace(run: HistoryRun, index: number, planned: () => PlannedRequest): Promise<void> {
  const target = targetOf(run, index)
  if (target === undefined) return
  const { content, body, may } = planned()
  const ask = run.ledger.open({ kind: 'replace', ...target, content, ...may })
  await call(run, ask, {
    method: 'PUT',
    path: `${pathOf(run.testBed, target.account)}/${target.id}`,
    body,
  })
}

/** A cancellation of what was accepted. Does nothing as long as nothing was. */
export async function cancel(run: HistoryRun, index: number): Promise<void> {
  const target = targetOf(run, index)
  if (target === undefined) return
  const ask = run.ledger.open({ kind: 'cancel', ...target })
  await call(run, ask, { method: 'DELETE', path: `${pathOf(run.testBed, target.account)}/${target.id}` })
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: object
}

async function call({ testBed, ledger }: HistoryRun, ask: Ask, { method, path, body }: Call): Promise<void> {
  try {
    const answer = await testBed.api(method, path, body)
    ask.said = readAnswer(answer)
    ask.answer = `${answer.status} ${answer.body.code ?? answer.body.data?.status} ${answer.body.error ?? ''}`
    if (ask.said === 'accepted') ask.id = answer.body.data.id
    if (isScandal(answer, testBed)) ledger.scandals.push(`${method} ${path} answered ${ask.answer}`)
  } catch (error) {
    // The service was not there, or ended before it answered: whether it took the request, no one was told.
    ask.said = 'unknown'
    ask.answer = String(error)
  }
}

function readAnswer({ status, body }: Answer<Transaction>): Ask['said'] {
  if (status === 200) return 'accepted'
  return status === 400 || status === 404 || body.code === 'network_unavailable' ? 'refused' : 'unknown'
}

/** An answer that breaks the contract becomes a 500 without a better code; so does a fault of the service itself. */
function isScandal(answer: Answer<Transaction>, testBed: Pick<TestBed, 'failsOver' | 'logged'>): boolean {
  const { status, body } = answer
  if (status === 200 || status === 400) return false
  if (testBed.failsOver && saysDatabaseIsAway(answer, testBed.logged.text)) return false
  return body.code !== 'network_unavailable' && body.code !== 'request_timeout'
}

/** The interface gives a replacement no 503, so it answers 500 while the database is away, and only the log has the reason. */
function saysDatabaseIsAway({ headers, body: { code } }: Answer<Transaction>, log: string): boolean {
  if (code !== 'internal_error') return code === 'database_unavailable'
  const id = `"request_id":"${headers.get('x-request-id')}"`
  const line = log.split('\n').findLast((text) => text.includes(id) && text.includes('"request failed"'))
  const { err } = JSON.parse(line ?? '{}') as { err?: { message: string; code?: string } }
  return err !== undefined && isAway(Object.assign(new Error(err.message), { code: err.code }))
}
