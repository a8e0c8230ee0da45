import { createHash } from 'node:crypto'
import { xdr } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { functionSpec, moduleWith } from '../../../simulators/stellar/soroban/spec.ts'
import type { StellarChain } from '../../../src/chains/stellar/types.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { requestOf } from './build.ts'
import { type Stage, setStage } from './stage.ts'

const U32 = xdr.ScSpecTypeDef.scSpecTypeU32()

/** The code of two contracts, whose function has its parameters in another order. They have the same length. */
const CODE = moduleWith([
  functionSpec('go', [
    ['a', U32],
    ['b', U32],
  ]),
])
const SWAPPED = moduleWith([
  functionSpec('go', [
    ['b', U32],
    ['a', U32],
  ]),
])

/** The arguments that the caller means. */
const MEANT = [{ u32: 1 }, { u32: 2 }]

let stage: Stage
let liar: FaultyNode
let contract: string

beforeEach(async () => {
  stage = await setStage()
  liar = await startFaultyNode(stage.ledger.url)
  contract = stage.ledger.contract({}, CODE)
  stage.ledger.contract({}, SWAPPED)
})

afterEach(async () => {
  await liar.stop()
  await stage.ledger.stop()
})

/** Lets the node put other bytes into the entries that it gives. */
function lie(bytes: Buffer, others: Buffer): void {
  const changed = (base64: string) =>
    Buffer.from(
      Buffer.from(base64, 'base64').toString('hex').replaceAll(bytes.toString('hex'), others.toString('hex')),
      'hex',
    ).toString('base64')
  liar.habits = {
    lie: (_call, reply) => {
      const { result } = reply as { result?: { entries?: { xdr: string }[] } }
      for (const entry of result?.entries ?? []) entry.xdr = changed(entry.xdr)
      return reply
    },
  }
}

/** The arguments of `go`, or the kind of the answer. */
async function callResult(chain: StellarChain): Promise<unknown> {
  const operation = { type: 'invoke_contract', contract_address: contract, function_name: 'go' } as const
  const request = requestOf({ operations: [{ ...operation, args: [], named_args: { b: 2, a: 1 } }] })
  const answer = await chain.encodeNamedArgs?.(request)
  if (answer?.kind !== 'ok') return answer?.kind
  const [encoded] = answer.value.operations ?? []
  return encoded?.type === 'invoke_contract' ? encoded.args : undefined
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

test('an endpoint that names the code of another contract is contradicted by an honest one', async () => {
  lie(sha256(CODE), sha256(SWAPPED))
  expect(await callResult(stage.chainAt(liar.url, stage.ledger.url))).toBe('unknown')
  expect(await callResult(stage.chainAt(stage.ledger.url))).toEqual(MEANT)
})

test('code that does not have its hash is not used, and an honest endpoint gives the right one', async () => {
  lie(CODE, SWAPPED)
  expect(await callResult(stage.chainAt(liar.url))).toBe('unknown')
  expect(await callResult(stage.chainAt(liar.url, stage.ledger.url))).toEqual(MEANT)
})

test('the code is asked for once, and the contract each time', async () => {
  const chain = stage.chainAt(liar.url)
  expect(await callResult(chain)).toEqual(MEANT)
  const before = liar.calls.get('getLedgerEntries') ?? 0
  expect(await callResult(chain)).toEqual(MEANT)
  expect((liar.calls.get('getLedgerEntries') ?? 0) - before).toBe(1)
})

test('an endpoint that is down does not keep another one from answering', async () => {
  liar.fault = () => 'http_500'
  expect(await callResult(stage.chainAt(liar.url, stage.ledger.url))).toEqual(MEANT)
  expect(await callResult(stage.chainAt(liar.url))).toBe('unknown')
})
