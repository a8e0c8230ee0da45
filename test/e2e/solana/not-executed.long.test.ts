import type { Address } from '@solana/kit'
import { expect, onTestFinished, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { advanceNonce, transfer as transferStep } from '../../../simulators/solana/wallet.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { instructionOf, OTHER, SELF } from '../../chains/solana/build.ts'
import { openNonceAccount } from '../../chains/solana/nonces.ts'
import {
  MAIN,
  RECEIVER,
  SOL,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

async function startWith(noOps: 'fee_payers' | 'nonces'): Promise<SolanaScenario> {
  const scenario = await startSolanaScenario({ solana: { noOps } })
  onTestFinished(scenario.stop)
  return scenario
}

/** Sets what the account has, as if it had always been so. */
function setBalance({ solana }: SolanaScenario, of: string, lamports: bigint): void {
  solana.plant(of, { lamports, data: new Uint8Array(), owner: SYSTEM_PROGRAM, executable: false })
}

test.each([
  ['has nothing', 0n, 'AccountNotFound'],
  ['has less than the fee', 4_000n, 'InsufficientFundsForFee'],
  ['would keep less than the minimum', 100_000n, 'InsufficientFundsForRent of account 0'],
])(
  'a block contains it without having executed it, because its payer %s: it fails and costs nothing',
  async (_, left, reason) => {
    const scenario = await startWith('fee_payers')
    const { id } = await scenario.send(transfer(SOL))
    await scenario.reach(id, 'submitted')
    setBalance(scenario, MAIN, left)
    const failed = await scenario.tickUntil(id, 'failed')
    const onChain = scenario.solana.included(String(failed.hash))
    expect(onChain?.fee).toBe(0n)
    expect(failed).toMatchObject({ fee: 0, status_reason: `Reverted on chain: ${reason}.` })
    expect(failed.attempts).toMatchObject([{ outcome: 'reverted', fee: 0 }])
    const day = 86_400_000
    const query = `from=${new Date(Date.now() - day).toISOString()}&to=${new Date(Date.now() + day).toISOString()}`
    const { body } = await scenario.service.api<Schemas['SpendingReportRow'][]>(
      'GET',
      `/reports/spending?${query}`,
    )
    expect(body.data).toMatchObject([{ transactions: 1, fees: '0' }])
  },
)

test('a transfer that leaves its payer too little costs its fee all the same', async () => {
  const scenario = await startWith('fee_payers')
  const { id } = await scenario.send(transfer(SOL))
  await scenario.reach(id, 'submitted')
  setBalance(scenario, MAIN, SOL + 5_000n + 100_000n)
  const failed = await scenario.tickUntil(id, 'failed')
  const onChain = scenario.solana.included(String(failed.hash))
  expect(failed).toMatchObject({
    fee: Number(onChain?.fee),
    status_reason: 'Reverted on chain: InsufficientFundsForRent of account 0.',
  })
  expect(onChain?.fee).toBeGreaterThan(0n)
})

function durable(nonce: Address, lamports: bigint) {
  const steps = [advanceNonce(nonce, SELF), transferStep(SELF, OTHER, lamports)]
  return {
    instructions: steps.map(instructionOf).map(({ programId, accounts, data }) => ({
      program_id: programId,
      accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
        pubkey,
        is_signer: isSigner,
        is_writable: isWritable,
      })),
      data,
    })),
  }
}

test('a durable nonce in a transaction that was not executed can still be used: it stays open, and is executed once', async () => {
  const scenario = await startWith('nonces')
  const { solana } = scenario
  const nonce = await openNonceAccount({ solana }, SELF)
  const { id } = await scenario.send(durable(nonce, 21n))
  const { hash } = await scenario.reach(id, 'submitted')
  setBalance(scenario, MAIN, 0n)
  solana.tick(40)
  expect(solana.included(String(hash))).toMatchObject({ err: 'AccountNotFound', fee: 0n })
  solana.tick(40)
  expect(await scenario.get(id)).toMatchObject({ status: 'submitted', hash })
  setBalance(scenario, MAIN, 10n * SOL)
  expect(await scenario.tickUntil(id, 'confirmed')).toMatchObject({ hash })
  expect(solana.account(RECEIVER)?.lamports).toBe(SOL + 21n)
})
