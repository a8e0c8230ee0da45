import { expect, test } from 'vitest'
import * as solana from '../support/solana-scenario.ts'
import * as stellar from '../support/stellar-scenario.ts'
import { runExample } from './run-example.ts'

test('solana-paymaster pays the fee of a transfer that the user signs', async () => {
  const story = await solana.startSolanaScenario()
  try {
    const before = story.solana.account(solana.MAIN)?.lamports ?? 0n
    const env = { USER_SEED: Buffer.from(solana.seedOf('receiver')).toString('hex'), RECEIVER: solana.MAIN }
    const said = await runExample(story.service, 'solana-paymaster', { env })
    const hash = /^sent: ([1-9A-HJ-NP-Za-km-z]{80,90})\n$/.exec(said)?.[1]
    const { body } = await story.service.api<{ id: string }[]>('GET', `/transactions?hash=${hash}`)
    await story.tickUntil(body.data[0]?.id ?? '', 'confirmed')
    // The transfer, without the fee for two signatures.
    expect(story.solana.account(solana.MAIN)?.lamports).toBe(before + 20_000n - 10_000n)
  } finally {
    await story.stop()
  }
}, 60_000)

test('stellar-call transfers a token', async () => {
  const story = await stellar.startStellarScenario({ ledger: { closeEveryMs: 200 } })
  try {
    const before = story.ledger.account(stellar.RECEIVER)?.balance ?? 0n
    const env = { NETWORK: 'standalone', CONTRACT: story.ledger.nativeContract, RECEIVER: stellar.RECEIVER }
    expect(await runExample(story.service, 'stellar-call', { env })).toMatch(
      /^the ledger has it: [0-9a-f]{64}\n$/,
    )
    expect(story.ledger.account(stellar.RECEIVER)?.balance).toBe(before + 7n)
  } finally {
    await story.stop()
  }
}, 60_000)
