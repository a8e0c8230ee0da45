import { expect, test } from 'vitest'
import { submitTo } from '../../../scripts/attack/solana/node-calls.ts'
import { drawPayerSteps } from '../../../scripts/attack/solana/payer-steps.ts'
import { plantVictim, type Victim, walletNamed } from '../../../scripts/attack/solana/victim.ts'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from '../../../simulators/solana/tokens.ts'
import { signContent, type Wallet } from '../../../simulators/solana/wallet.ts'
import { solanaEffects } from '../../../src/chains/solana/effects/effects.ts'
import { createRandom } from '../../support/random.ts'
import { SOL } from '../../support/solana-scenario.ts'

/** Each draws one to three instructions of the programs that can take from the relayer's account. */
const SEEDS = 200

/** The most bytes of a token account that a test opens; its rent counts in no effect. */
const TOKEN_ACCOUNT_BYTES = 200

/** Where the amount of a token account is (SPL Token, `Account`). */
const AMOUNT_AT = 64

const PAYER = walletNamed('main')

function tokensOf(solana: TestSolana, at: string | undefined): bigint {
  const { data } = (at === undefined ? undefined : solana.account(at)) ?? {}
  return data === undefined || data.length < AMOUNT_AT + 8 ? 0n : Buffer.from(data).readBigUInt64LE(AMOUNT_AT)
}

/** What the relayer and the attacker have, in the words of effects. */
function holdingsOf(
  solana: TestSolana,
  { payer, attacker, possessions, mint, delegatedMint, loot, delegatedLoot }: Victim,
) {
  const lamports = (of: string) => solana.account(of)?.lamports ?? 0n
  return {
    own: new Map([
      ['native', lamports(payer)],
      [mint as string, tokensOf(solana, possessions.tokens)],
      [delegatedMint as string, tokensOf(solana, possessions.delegated)],
    ]),
    theirs: [lamports(attacker.address), tokensOf(solana, loot), tokensOf(solana, delegatedLoot)],
  }
}

/** Everyone besides the payer whose signature an instruction needs. */
function signersBeside(steps: Awaited<ReturnType<typeof drawPayerSteps>>, { attacker }: Victim): Wallet[] {
  const needed = new Set(
    steps.steps.flatMap(({ accounts }) => accounts.flatMap(({ signs, address }) => (signs ? [address] : []))),
  )
  const known = [attacker, ...(steps.signers ?? [])]
  return known.filter((wallet, index) => needed.has(wallet.address) && known.indexOf(wallet) === index)
}

test('what programs take from the relayer, and who gets it, is in the effects that rules read', async () => {
  const counts = { executed: 0, taken: 0, read: 0 }
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const solana = await startSolana({ slotMs: 'manual', pastBlocks: 10 })
    try {
      solana.airdrop(PAYER.address, 100n * SOL)
      const victim = await plantVictim(solana)
      solana.tick(2)
      const drawn = await drawPayerSteps(victim, createRandom(seed), `fresh ${seed}`)
      // The delegate of a mint takes without the relayer's signature, in this transaction as in any other.
      if (drawn.name.includes('permanent delegate')) continue
      const { blockhash = '' } = solana.blocks.at(-2) ?? {}
      const signers = [PAYER, ...signersBeside(drawn, victim)] as const
      const { base64 } = signContent({ signers, blockhash, steps: drawn.steps })
      const effects = solanaEffects({ type: 'solana', speed: 'fast', transaction: base64 }, PAYER.address)
      const before = holdingsOf(solana, victim)
      const signature = await submitTo(solana, base64)
      solana.tick()
      const applied = signature === undefined ? undefined : solana.included(signature)
      if (applied?.err !== null) continue
      counts.executed += 1
      const after = holdingsOf(solana, victim)
      const opened = drawn.steps.filter(({ program }) => program === ASSOCIATED_TOKEN_PROGRAM).length
      const rent = BigInt(opened) * solana.rentExemption(TOKEN_ACCOUNT_BYTES)
      const isRead = effects.unread.length === 0
      if (isRead) counts.read += 1
      for (const [asset, had] of before.own) {
        const spared = asset === 'native' ? applied.fee + rent : 0n
        const lost = had - (after.own.get(asset) ?? 0n) - spared
        const believed = effects.amounts.find((amount) => amount.asset === asset)?.value ?? 0n
        if (lost > 0n) counts.taken += 1
        if (isRead) expect(lost, `${drawn.name} (seed ${seed}) takes ${asset}`).toBeLessThanOrEqual(believed)
      }
      const gains = after.theirs.some((now, index) => now > (before.theirs[index] ?? 0n))
      if (gains && isRead)
        expect(effects.receivers, `${drawn.name} (seed ${seed}) pays`).toContainEqual(
          expect.toSatisfy((receiver) =>
            [victim.attacker.address, victim.loot, victim.delegatedLoot].includes(receiver),
          ),
        )
    } finally {
      await solana.stop()
    }
  }
  expect(counts.executed).toBeGreaterThan(SEEDS / 4)
  expect(counts.taken).toBeGreaterThan(SEEDS / 20)
  expect(counts.read).toBeGreaterThan(SEEDS / 10)
}, 120_000)
