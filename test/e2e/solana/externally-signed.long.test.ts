import { address, getBase58Decoder } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import {
  advanceNonce,
  createAccount,
  createWallet,
  initializeNonce,
  NONCE_ACCOUNT_LENGTH,
  type Step,
  signContent,
  transfer as transferStep,
  u32,
  u64,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, instructionOf, SELF } from '../../chains/solana/build.ts'
import {
  MAIN,
  RECEIVER,
  SOL,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

import { until } from '../../support/until.ts'

let scenario: SolanaScenario
const friend = createWallet()

beforeAll(async () => {
  scenario = await startSolanaScenario()
  scenario.solana.airdrop(friend.address, 5n * SOL)
}, 60_000)

afterAll(() => scenario.stop())

const lamportsOf = (address: string) => scenario.solana.account(address)?.lamports ?? 0n

/** A transaction that the relayer is asked to pay for, as wallets make it. */
function prebuilt(steps: readonly Step[], ...cosigners: readonly Wallet[]) {
  const { blockhash } = scenario.solana.blocks.at(-2) ?? { blockhash: '' }
  return { transaction: signContent({ signers: [AS_PAYER, ...cosigners], blockhash, steps }).base64 }
}

const gift = (lamports: bigint) => transferStep(friend.address, createWallet().address, lamports)

describe('a transaction that a third party has signed', () => {
  test('is paid for, and costs the relayer just its fee', async () => {
    const before = lamportsOf(MAIN)
    const { id } = await scenario.send(prebuilt([gift(SOL / 100n)], friend))
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.transaction_signature).toBe(confirmed.hash)
    expect(lamportsOf(MAIN)).toBe(before - 10_000n)
  })

  test('expires when no block includes it in its time: only they could sign it again', async () => {
    const { id } = await scenario.send(prebuilt([gift(SOL / 100n)], friend))
    await scenario.reach(id, 'submitted')
    scenario.solana.dropPending()
    scenario.solana.tick(160)
    const expired = await scenario.tickUntil(id, 'expired')
    expect(expired.attempts).toMatchObject([{ kind: 'send', outcome: 'expired' }])
  })

  test('is executed once when it is sent twice, and the second record says so', async () => {
    const body = prebuilt([gift(SOL / 100n)], friend)
    const [first, second] = await Promise.all([scenario.send(body), scenario.send(body)])
    const settled = (id: string, ...open: readonly string[]) =>
      until(
        () => scenario.get(id),
        ({ status }) => !open.includes(status),
      )
    const seen = await Promise.all([first, second].map(({ id }) => settled(id, 'pending', 'sent')))
    const sent = seen.find(({ status }) => status === 'submitted')
    const failed = seen.find(({ status }) => status === 'failed')
    await scenario.tickUntil(String(sent?.id), 'confirmed')
    expect(failed?.status_reason).toBe(`The same signed transaction was accepted before, as ${sent?.id}.`)
    const again = await scenario.post(body)
    expect([again.status, again.body.code]).toEqual([400, 'already_accepted'])
  })

  test('is sent as a replacement when the replaced bytes have expired', async () => {
    const { id } = await scenario.send(transfer(21n))
    await scenario.reach(id, 'submitted')
    scenario.solana.dropPending()
    scenario.solana.tick(100)
    const answer = await scenario.replace(id, prebuilt([gift(SOL / 100n)], friend))
    expect(answer.status).toBe(200)
    scenario.solana.tick(60)
    const confirmed = await scenario.tickUntil(id, 'confirmed')
    expect(confirmed.attempts).toMatchObject([{ outcome: 'expired' }, { kind: 'replace', outcome: 'mined' }])
  })

  test('that takes more than its fee is refused with its code', async () => {
    const answer = await scenario.post(prebuilt([gift(1n), transferStep(SELF, friend.address, 5n)], friend))
    expect([answer.status, answer.body.code]).toEqual([400, 'fee_payer_at_risk'])
    expect(answer.body.error).toContain('transaction: instruction 1')
  })
})

describe('the very same bytes', () => {
  test('that the service has to sign twice get another blockhash, so that both are executed', async () => {
    const before = lamportsOf(RECEIVER)
    // With a budget of its own, nothing but the blockhash tells one from the other.
    const budget = [
      Buffer.from([2, ...u32(5_000)]),
      Buffer.from([3, ...u64(0n)]),
      Buffer.from([4, ...u32(2 ** 25)]),
    ]
    const steps = budget.map((data) => ({ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data }))
    const body = prebuilt([transferStep(SELF, address(RECEIVER), 41n), ...steps])
    const sent = await Promise.all([scenario.send(body), scenario.send(body)])
    const ended = await Promise.all(sent.map(({ id }) => scenario.tickUntil(id, 'confirmed')))
    expect(new Set(ended.map(({ hash }) => hash)).size).toBe(2)
    expect(lamportsOf(RECEIVER)).toBe(before + 82n)
  })
})

describe('money', () => {
  test('is promised once, however many ask at the same time', async () => {
    const before = lamportsOf(RECEIVER)
    const answers = await Promise.all(Array.from({ length: 6 }, () => scenario.post(transfer(4n * SOL))))
    const accepted = answers.filter(({ status }) => status === 200)
    expect(accepted).toHaveLength(2)
    expect(new Set(answers.filter(({ status }) => status === 400).map(({ body }) => body.code))).toEqual(
      new Set(['insufficient_balance']),
    )
    await Promise.all(accepted.map(({ body }) => scenario.tickUntil(body.data.id, 'confirmed')))
    expect(lamportsOf(RECEIVER)).toBe(before + 8n * SOL)
  })
})

describe('a durable nonce', () => {
  test('that something else has used up ends what was signed for it', async () => {
    scenario.solana.airdrop(MAIN, 10n * SOL)
    const nonce = createWallet()
    const size = {
      lamports: scenario.solana.rentExemption(NONCE_ACCOUNT_LENGTH),
      space: NONCE_ACCOUNT_LENGTH,
      owner: SYSTEM_PROGRAM,
    }
    const { blockhash } = scenario.solana.blocks.at(-2) ?? { blockhash: '' }
    const steps = [
      createAccount(friend.address, nonce.address, size),
      initializeNonce(nonce.address, friend.address),
    ]
    const made = signContent({ signers: [friend, nonce], blockhash, steps })
    await sendRaw(made.base64)
    scenario.solana.tick(5)
    const body = prebuiltOn(nonce.address, [gift(SOL / 100n)])
    const { id } = await scenario.send(body)
    await scenario.reach(id, 'submitted')
    scenario.solana.dropPending()
    // The friend uses the nonce for something else.
    await sendRaw(onNonce([friend], nonce.address, [advanceNonce(nonce.address, friend.address)]))
    const expired = await scenario.tickUntil(id, 'expired')
    expect(expired.attempts).toMatchObject([{ outcome: 'expired' }])
  })

  function onNonce(signers: [Wallet, ...Wallet[]], account: string, steps: readonly Step[]): string {
    const state = scenario.solana.account(account)?.data.subarray(40, 72) ?? new Uint8Array()
    return signContent({ signers, blockhash: getBase58Decoder().decode(state), steps }).base64
  }

  function prebuiltOn(account: Wallet['address'], steps: readonly Step[]) {
    const all = [advanceNonce(account, friend.address), ...steps]
    return { transaction: onNonce([AS_PAYER, friend], account, all) }
  }

  async function sendRaw(base64: string): Promise<void> {
    await fetch(scenario.solana.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'sendTransaction',
        params: [base64, { encoding: 'base64', skipPreflight: true }],
      }),
    })
  }
})

describe('the API', () => {
  test.each([
    ['another group', { value: 1, to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }, 'wrong_network_type'],
    ['an end in the past', { ...transfer(1n), valid_until: '2020-01-01T00:00:00Z' }, 'valid_until_in_past'],
    ['no transaction', { transaction: 'AQAB' }, 'invalid_request'],
    ['no instruction', { instructions: [] }, 'invalid_request'],
    [
      'a program that fails',
      {
        instructions: [
          instructionOf({ ...transferStep(SELF, SELF, 1n), data: Buffer.from([77, 0, 0, 0]) }),
        ].map(toWire),
      },
      'execution_reverted',
    ],
  ])('refuses %s', async (_what, body, code) => {
    const answer = await scenario.post(body)
    expect([answer.status, answer.body.code]).toEqual([400, code])
  })

  function toWire({ programId, accounts, data }: ReturnType<typeof instructionOf>) {
    return {
      program_id: programId,
      accounts: accounts.map((one) => ({
        pubkey: one.pubkey,
        is_signer: one.isSigner,
        is_writable: one.isWritable,
      })),
      data,
    }
  }

  test('expires a transaction after valid_until, when its bytes have expired', async () => {
    const validUntil = new Date(Date.now() + 1_500).toISOString()
    const { id } = await scenario.send(transfer(33n, { valid_until: validUntil }))
    await scenario.reach(id, 'submitted')
    scenario.solana.dropPending()
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(validUntil) - Date.now())))
    scenario.solana.tick(160)
    const expired = await scenario.tickUntil(id, 'expired')
    expect(expired.attempts).toHaveLength(1)
  })
})
