import { verify } from 'node:crypto'
import { address, getBase58Encoder } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createWallet,
  type Step,
  signContent,
  transfer,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createEd25519Signer } from '../../../src/signers/ed25519.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import {
  RECEIVER,
  SOL,
  type SolanaScenario,
  seedOf,
  startSolanaScenario,
} from '../../support/solana-scenario.ts'

type Signed = Schemas['SignedSolanaTransaction']

const SIGNATURE_BYTES = 64

let story: SolanaScenario
const friend = createWallet()

beforeAll(async () => {
  story = await startSolanaScenario({
    policies: { disallowed_accounts: [friend.address], max_signatures: 2 },
  })
  story.solana.airdrop(friend.address, 5n * SOL)
}, 60_000)
afterAll(() => story.stop())

const sign = (transaction: string) =>
  story.service.api<Signed>('POST', '/relayers/main/sign-transaction', { transaction })

/** A transaction whose fee `payer` pays, with a signature that is worth nothing in the relayer's place. */
function prebuilt(steps: readonly Step[], payer: Wallet = AS_PAYER, ...cosigners: readonly Wallet[]) {
  const { blockhash } = story.solana.blocks.at(-2) ?? { blockhash: '' }
  return signContent({ signers: [payer, ...cosigners], blockhash, steps })
}

async function submit(transaction: string): Promise<unknown> {
  const answer = await fetch(story.solana.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'sendTransaction',
      params: [transaction, { encoding: 'base64', preflightCommitment: 'confirmed' }],
    }),
  })
  return ((await answer.json()) as { result?: unknown }).result
}

const pay = (lamports: bigint) => transfer(SELF, address(RECEIVER), lamports)

describe('POST …/sign-transaction', () => {
  test('a transaction is signed as it is, and the network takes it', async () => {
    const unsigned = prebuilt([pay(77n)])
    const { status, body } = await sign(unsigned.base64)
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
    const raw = Buffer.from(body.data.transaction, 'base64')
    expect(raw.subarray(1 + SIGNATURE_BYTES)).toEqual(unsigned.message)
    expect(Buffer.from(getBase58Encoder().encode(body.data.signature))).toEqual(
      raw.subarray(1, 1 + SIGNATURE_BYTES),
    )
    const before = story.solana.account(RECEIVER)?.lamports ?? 0n
    expect(await submit(body.data.transaction)).toBe(body.data.signature)
    story.solana.tick()
    expect(story.solana.account(RECEIVER)?.lamports).toBe(before + 77n)
  })

  test('the signature of a third party may be missing, and stays missing', async () => {
    const cosigner = createWallet()
    story.solana.airdrop(cosigner.address, SOL)
    const steps = [transfer(cosigner.address, createWallet().address, SOL / 100n)]
    const unsigned = Buffer.from(prebuilt(steps, AS_PAYER, cosigner).bytes)
    unsigned.fill(0, 1 + SIGNATURE_BYTES, 1 + 2 * SIGNATURE_BYTES)
    const { status, body } = await sign(unsigned.toString('base64'))
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
    const raw = Buffer.from(body.data.transaction, 'base64')
    expect(raw.subarray(1 + SIGNATURE_BYTES)).toEqual(unsigned.subarray(1 + SIGNATURE_BYTES))
    const key = createEd25519Signer('main', seedOf('main')).publicKey
    const x = Buffer.from(key).toString('base64url')
    const message = unsigned.subarray(1 + 2 * SIGNATURE_BYTES)
    expect(
      verify(
        null,
        message,
        { key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' },
        raw.subarray(1, 1 + SIGNATURE_BYTES),
      ),
    ).toBe(true)
  })

  test.each<[string, () => string, string, string]>([
    ['no transaction', () => 'AQAAAA==', 'invalid_request', 'transaction'],
    ['no base64', () => '####', 'invalid_request', 'transaction'],
    [
      'another fee payer',
      () => prebuilt([transfer(friend.address, address(RECEIVER), 1n)], friend).base64,
      'invalid_request',
      'fee payer',
    ],
    [
      'an account that is disallowed',
      () => prebuilt([transfer(SELF, friend.address, 1n)]).base64,
      'policy_violation',
      'disallowed_accounts',
    ],
    [
      'the relayer as more than the payer of the fee',
      () => prebuilt([pay(5n)], AS_PAYER, createWallet()).base64,
      'fee_payer_at_risk',
      'instruction 0',
    ],
    ['more than there is', () => prebuilt([pay(100n * SOL)]).base64, 'insufficient_balance', ''],
  ])('%s is refused and named', async (_name, transaction, code, words) => {
    const { status, body } = await sign(transaction())
    expect({ status, code: body.code }).toEqual({ status: 400, code })
    expect(body.error).toContain(words)
  })

  test('nothing is stored', async () => {
    const { body } = await story.service.api('GET', '/relayers/main/transactions?per_page=0')
    expect(body.pagination?.total_items).toBe(0)
  })
})
