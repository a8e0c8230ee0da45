import { TransactionResult, TransactionResultExt, TransactionResultResult } from '@stellar/stellar-sdk/xdr'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { NodeFault } from '../../../simulators/stellar/rpc/node.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import {
  accountWith,
  attemptOf,
  known,
  OTHER,
  paymentOf,
  requestOf,
  SELF,
  signingContextAt,
} from './build.ts'
import { type Stage, setStage } from './stage.ts'

let stage: Stage

beforeEach(async () => {
  stage = await setStage()
})
afterEach(() => stage.ledger.stop())

const BAD_SEQUENCE = new TransactionResult({
  feeCharged: 0n,
  result: TransactionResultResult.txBadSeq(),
  ext: TransactionResultExt.v0(),
}).toXdr('base64')

const NODE_FAULTS: readonly NodeFault[] = ['core_gone', 'core_exception', 'filtered', 'too_slow', 'panicking']

describe('an endpoint that reports its faults as JSON-RPC errors', () => {
  test.each(NODE_FAULTS)('gives way to another one, and is not healthy (%s)', async (nodeFault) => {
    const faulty = await stage.ledger.startFaulty(nodeFault)
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    const signed = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
    // The better one of two answers counts, whichever endpoint is asked first.
    const chain = stage.chainAt(faulty.url, stage.ledger.url)
    const alone = stage.chainAt(faulty.url)
    expect(await alone.broadcast([signed.raw])).toMatchObject([{ kind: 'unknown' }])
    expect(alone.endpoints()).toMatchObject([{ healthy: false }])
    expect(stage.ledger.queue()).toEqual([])
    expect(await chain.broadcast([signed.raw])).toMatchObject([{ kind: 'accepted' }])
    expect(stage.ledger.queue()).toHaveLength(1)
    await faulty.stop()
  })

  test.each(NODE_FAULTS)('proves nothing, alone or beside another one that could (%s)', async (nodeFault) => {
    const faulty = await stage.ledger.startFaulty(nodeFault)
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    const nonce = await stage.nonce()
    const attempt = attemptOf(draft, {
      nonce,
      signed: await stage.chain.sign(draft, signingContextAt(nonce)),
    })
    stage.ledger.close()
    const { number } = known(await stage.chain.head())
    const reads = nodeFault === 'core_exception' || nodeFault === 'filtered'
    const alone = await stage.chainAt(faulty.url).proveInclusion([attempt], { asOf: number })
    expect(alone.kind).toBe(reads ? 'absent' : 'unknown')
    const both = stage.chainAt(faulty.url, stage.ledger.url)
    expect((await both.proveInclusion([attempt], { asOf: number })).kind).toBe(reads ? 'absent' : 'unknown')
    expect(known((await both.sequencing.nonces([SELF], { asOf: number }))[0] ?? { kind: 'none' })).toBe(nonce)
    await faulty.stop()
  })

  test('is not believed about a used sequence number that the ledger shows as unused', async () => {
    const node = await startFaultyNode(stage.ledger.url)
    onTestFinished(node.stop)
    const chain = stage.chainAt(node.url)
    const draft = await stage.prepare(requestOf({ operations: [paymentOf(1n)] }))
    const { raw } = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
    node.habits = {
      lie: ({ method }, reply) =>
        method === 'sendTransaction'
          ? {
              ...reply,
              result: { ...(reply.result as object), status: 'ERROR', errorResultXdr: BAD_SEQUENCE },
            }
          : reply,
    }
    expect(await chain.broadcast([raw])).toMatchObject([{ kind: 'later', detail: 'tx_bad_seq' }])
    stage.ledger.close()
    expect(await chain.broadcast([raw])).toMatchObject([{ kind: 'nonce_used' }])
  })

  test('is not seen in the refusal of a node that is asked for an account twice', async () => {
    const nonce = await stage.nonce()
    const answers = await stage.chain.sequencing.nonces([SELF, OTHER, SELF])
    expect(answers.map((answer) => known(answer))).toEqual([nonce, expect.any(BigInt), nonce])
  })

  test('does not end a call of a contract that another one can simulate', async () => {
    const faulty = await stage.ledger.startFaulty('preflight_full')
    const contract_address = stage.ledger.contract({ touch: () => undefined })
    const call = requestOf({
      operations: [{ type: 'invoke_contract', contract_address, function_name: 'touch', args: [] }],
    })
    expect(await stage.chainAt(faulty.url).prepare(call, accountWith())).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining('preflight queue full'),
    })
    await faulty.stop()
  })
})
