import { type Address, address } from '@solana/kit'
import { TOKEN_2022_PROGRAM } from '../../simulators/solana/runtime/programs.ts'
import { associatedAddress, plantTokens } from '../../simulators/solana/tokens.ts'
import { type Step, signContent, type Use, u64, type Wallet } from '../../simulators/solana/wallet.ts'
import { type SolanaBuild, signAs } from '../../test/e2e/sponsored/solana-sponsored.ts'
import type { Random } from '../../test/support/random.ts'
import { type SolanaScenario, startSolanaScenario } from '../../test/support/solana-scenario.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'
import { type Holdings, lossBetween, readHoldings } from './solana/node-calls.ts'
import { drawPayerSteps } from './solana/payer-steps.ts'
import { plantVictim, type Victim, walletNamed } from './solana/victim.ts'

/**
 * Lets a relayer whose users pay in tokens build and send transactions that take from it, that take the payment back, or that were changed
 * after they were built. Whatever is included must have paid the relayer what was quoted.
 */
export const sponsoredDrains: Attack = { name: 'sponsored-drains', deadlineMs: 240_000, run }

/** Attempts of one run. */
const ATTEMPTS = 120

/** The policy of the relayer, in lamports. */
const MAX_FEE = 100_000n

interface Stage {
  readonly scenario: SolanaScenario
  readonly victim: Victim
  readonly tally: Tally
  /** The accounts that are paid, by mint. */
  readonly tills: Readonly<Record<string, Address>>
  readonly counts: { built: number; refused: number; paid: number; changed: number }
}

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  // The second token has no decimals: at this price, the payment is more than what is taken back.
  const prices = { mint: '150', 'delegated mint': '150000000' }
  const policies = {
    fee_payment_strategy: 'user',
    // Users pay, so this permission must not help them.
    fee_payer_spending: 'always',
    max_allowed_fee_lamports: Number(MAX_FEE),
    min_balance: 0,
    allowed_tokens: Object.entries(prices).map(([name, price]) => ({
      mint: walletNamed(name).address,
      price: { sources: [{ type: 'fixed', price }] },
    })),
  }
  const scenario = await startSolanaScenario({ policies })
  try {
    const victim = await plantVictim(scenario.solana)
    const tills = await plantTills(scenario, victim)
    scenario.solana.tick(2)
    const counts = { built: 0, refused: 0, paid: 0, changed: 0 }
    const stage = { scenario, victim, tally, tills, counts }
    for (let index = 0; index < ATTEMPTS && !tally.isFull(); index += 1)
      await attempt(stage, random.fork(String(index)), index)
    // Without these the generator, not the service, would be harmless.
    tally.check(counts.refused > ATTEMPTS / 10, () => `only ${counts.refused} attempts were refused`)
    tally.check(counts.paid > 0, () => 'no attempt was included')
    tally.check(counts.changed > 0, () => 'no attempt was changed')
    tally.note(
      `${ATTEMPTS} attempts: ${counts.refused} not built, ${counts.built} built, ${counts.changed} changed and refused, ${counts.paid} included and paid`,
    )
  } finally {
    await scenario.stop()
  }
  return tally.report()
}

/** The attacker has tokens to pay with, and of Token-2022 the right to take them back. */
async function plantTills({ solana }: SolanaScenario, victim: Victim): Promise<Record<string, Address>> {
  const { payer, attacker, mint, delegatedMint, possessions, loot } = victim
  const program = TOKEN_2022_PROGRAM
  const [till, source] = await Promise.all(
    [payer, attacker.address].map((owner) => associatedAddress(owner, delegatedMint, program)),
  )
  if (till === undefined || source === undefined || possessions.tokens === undefined)
    throw new Error('the victim has token accounts')
  plantTokens(solana, till, { mint: delegatedMint, owner: payer, amount: 1_000n, program })
  plantTokens(solana, source, { mint: delegatedMint, owner: attacker.address, amount: 10n ** 9n, program })
  plantTokens(solana, loot, { mint, owner: attacker.address, amount: 10n ** 9n })
  return { [mint]: possessions.tokens, [delegatedMint]: till }
}

async function attempt(
  { scenario, victim, tally, tills, counts }: Stage,
  random: Random,
  index: number,
): Promise<void> {
  const { solana, service } = scenario
  const { name, steps, signers = [] } = await drawSteps(victim, tills, random, index)
  const wallets = [victim.attacker, ...signers].filter(({ address: one }) => one !== victim.payer)
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const needed = wallets.filter(
    (wallet) =>
      wallet === victim.attacker ||
      steps.some(({ accounts }) => accounts.some((use) => use.signs && use.address === wallet.address)),
  )
  const [first = victim.attacker, ...others] = [...new Set(needed)]
  const { base64 } = signContent({ signers: [first, ...others], blockhash, steps })
  const feeToken = random.chance(0.5) ? victim.mint : victim.delegatedMint
  const before = readHoldings(solana, victim)
  const path = '/relayers/main/transactions/sponsored/build'
  const built = await service.api<SolanaBuild>('POST', path, { transaction: base64, fee_token: feeToken })
  tally.check(
    [200, 400].includes(built.status),
    () => `${name} was answered ${built.status}: ${built.body.error}`,
  )
  if (built.status !== 200) {
    counts.refused += 1
    return
  }
  counts.built += 1
  const { transaction, fee_in_spl: owed } = built.body.data
  if (random.chance(0.5))
    await sendChanged({ scenario, tally, counts }, random, { transaction, wallets, name })
  const tillBefore = amountAt(scenario, tills[feeToken])
  const sent = await service.api<{ id: string }>('POST', '/relayers/main/transactions', {
    transaction: signAs(transaction, ...wallets),
  })
  tally.check(
    [200, 400].includes(sent.status),
    () => `${name} was answered ${sent.status}: ${sent.body.error}`,
  )
  if (sent.status !== 200) return
  const { id } = sent.body.data
  await scenario.reach(id, 'confirmed', () => solana.tick())
  const { receipt } = (await scenario.get(id)) as unknown as { receipt?: { fee?: string } }
  const fee = BigInt(receipt?.fee ?? 0)
  tally.check(fee <= MAX_FEE, () => `${name}: the fee was ${fee}`)
  const loss = lossBetween(withoutTills(before), withoutTills(readHoldings(solana, victim)), MAX_FEE)
  tally.check(loss === undefined, () => `${name}: ${loss}`)
  const gained = amountAt(scenario, tills[feeToken]) - tillBefore
  tally.check(gained >= BigInt(owed), () => `${name}: ${owed} were owed, and ${gained} paid`)
  counts.paid += 1
}

/** Half of the attempts use the relayer; the others take a part of the payment back, or do nothing wrong. */
async function drawSteps(victim: Victim, tills: Stage['tills'], random: Random, index: number) {
  if (random.chance(0.6)) return drawPayerSteps(victim, random, `fresh ${index}`)
  const till = tills[victim.delegatedMint]
  if (till === undefined || random.chance(0.5))
    return { name: 'an innocent note', steps: [note(index)], signers: [] }
  const uses: readonly Use[] = [
    { address: till, writes: true },
    { address: victim.delegatedMint },
    { address: victim.delegatedLoot, writes: true },
    { address: victim.attacker.address, signs: true },
  ]
  const data = Buffer.concat([Buffer.from([12]), u64(random.pick([1n, 1n, 2n, 700n])), Buffer.from([0])])
  const steps: Step[] = [{ program: TOKEN_2022_PROGRAM, accounts: uses, data }]
  return { name: 'a payment that is taken back', steps, signers: [] }
}

function note(index: number): Step {
  const program = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
  return { program, accounts: [], data: Buffer.from(`note ${index}`) }
}

/** No bit of what was built may differ. */
async function sendChanged(
  { scenario, tally, counts }: Pick<Stage, 'scenario' | 'tally' | 'counts'>,
  random: Random,
  {
    transaction,
    wallets,
    name,
  }: { readonly transaction: string; readonly wallets: readonly Wallet[]; readonly name: string },
): Promise<void> {
  const bytes = Buffer.from(transaction, 'base64')
  const at = random.int(1 + (bytes[0] ?? 0) * 64, bytes.length - 1)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(0, 7))
  const body = { transaction: signAs(bytes.toString('base64'), ...wallets) }
  const answer = await scenario.service.api('POST', '/relayers/main/transactions', body)
  tally.check(answer.status === 400, () => `${name}, changed at byte ${at}, was answered ${answer.status}`)
  const signed = await scenario.service.api('POST', '/relayers/main/sign-transaction', body)
  tally.check(signed.status === 400, () => `${name}, changed at byte ${at}, was signed: ${signed.status}`)
  counts.changed += 1
}

function amountAt({ solana }: SolanaScenario, account: Address | undefined): bigint {
  const data = Buffer.from(account === undefined ? [] : (solana.account(account)?.data ?? []))
  return data.length < 72 ? 0n : data.readBigUInt64LE(64)
}

/** The token accounts change by what is paid. */
function withoutTills(holdings: Holdings): Holdings {
  const { tokens: _, ...possessions } = holdings.possessions
  return { ...holdings, possessions }
}
