import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NodeFault } from '../../support/stellar/rpc/trouble.ts'
import { accountWith, attemptOf, known, paymentOf, requestOf, SELF, signingContextAt } from './build.ts'
import { type Stage, setStage } from './stage.ts'

let stage: Stage

beforeEach(async () => {
  stage = await setStage()
})
afterEach(() => stage.ledger.stop())

const TROUBLES: readonly NodeFault[] = ['core_gone', 'core_exception', 'filtered', 'too_slow', 'panicking']

describe('an endpoint that tells of its trouble in errors of JSON-RPC', () => {
  test.each(TROUBLES)('gives way to another one, and is not healthy (%s)', async (nodeFault) => {
    const troubled = await stage.ledger.startTroubled(nodeFault)
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    const signed = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
    // Whichever is asked first: the better one of two answers counts.
    const chain = stage.chainAt(troubled.url, stage.ledger.url)
    const alone = stage.chainAt(troubled.url)
    expect(await alone.broadcast([signed.raw])).toMatchObject([{ kind: 'unknown' }])
    expect(alone.endpoints()).toMatchObject([{ healthy: false }])
    expect(stage.ledger.queue()).toEqual([])
    expect(await chain.broadcast([signed.raw])).toMatchObject([{ kind: 'accepted' }])
    expect(stage.ledger.queue()).toHaveLength(1)
    await troubled.stop()
  })

  test.each(TROUBLES)('proves nothing, and prevents no proof (%s)', async (nodeFault) => {
    const troubled = await stage.ledger.startTroubled(nodeFault)
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    const nonce = await stage.nonce()
    const attempt = attemptOf(draft, {
      nonce,
      signed: await stage.chain.sign(draft, signingContextAt(nonce)),
    })
    stage.ledger.close()
    const { number } = known(await stage.chain.head())
    const reads = nodeFault === 'core_exception' || nodeFault === 'filtered'
    const alone = await stage.chainAt(troubled.url).proveInclusion([attempt], { asOf: number })
    expect(alone.kind).toBe(reads ? 'absent' : 'unknown')
    const both = stage.chainAt(troubled.url, stage.ledger.url)
    expect(await both.proveInclusion([attempt], { asOf: number })).toEqual({ kind: 'absent' })
    expect(known((await both.sequencing.nonces([SELF], { asOf: number }))[0] ?? { kind: 'none' })).toBe(nonce)
    await troubled.stop()
  })

  test('does not end a call of a contract that another one can simulate', async () => {
    const troubled = await stage.ledger.startTroubled('preflight_full')
    const contract_address = stage.ledger.contract({ touch: () => undefined })
    const call = requestOf({
      operations: [{ type: 'invoke_contract', contract_address, function_name: 'touch', args: [] }],
    })
    expect(await stage.chainAt(troubled.url).prepare(call, accountWith())).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining('preflight queue full'),
    })
    await troubled.stop()
  })
})
