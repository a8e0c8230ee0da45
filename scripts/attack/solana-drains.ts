import { address } from '@solana/kit'
import { type Content, type Step, signContent, type Wallet } from '../../simulators/solana/wallet.ts'
import type { Random } from '../../test/support/random.ts'
import { MAIN, type SolanaScenario, startSolanaScenario } from '../../test/support/solana-scenario.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'
import { type Holdings, lossBetween, readHoldings, submitTo, wouldTake } from './solana/node-calls.ts'
import { drawPayerSteps } from './solana/payer-steps.ts'
import { plantVictim, type Victim, walletNamed } from './solana/victim.ts'

/** Lets a relayer whose policy is `never` sign transactions that take from it, and executes each one that it signed. */
export const solanaDrains: Attack = { name: 'solana-drains', run }

/** Attempts of one run. */
const ATTEMPTS = 150

/** The policy of the relayer, in lamports. */
const MAX_FEE = 100_000n

interface Stage {
  readonly scenario: SolanaScenario
  readonly victim: Victim
  readonly tally: Tally
  readonly counts: { signed: number; drains: number; executed: number }
}

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const policies = { fee_payer_spending: 'never', max_allowed_fee_lamports: Number(MAX_FEE), min_balance: 0 }
  const scenario = await startSolanaScenario({ policies })
  try {
    const victim = await plantVictim(scenario.solana)
    scenario.solana.tick(2)
    const counts = { signed: 0, drains: 0, executed: 0 }
    const stage = { scenario, victim, tally, counts }
    for (let index = 0; index < ATTEMPTS && !tally.isFull(); index += 1)
      await attempt(stage, random.fork(String(index)), index)
    // Without these the generator, not the service, would be harmless.
    tally.check(
      counts.drains > ATTEMPTS / 10,
      () => `only ${counts.drains} attempts would have taken something`,
    )
    tally.check(counts.executed > 0, () => 'no attempt was signed and executed')
    tally.note(
      `${ATTEMPTS} attempts: ${counts.drains} would take, ${counts.signed} signed, ${counts.executed} executed`,
    )
  } finally {
    await scenario.stop()
  }
  return tally.report()
}

async function attempt(
  { scenario, victim, tally, counts }: Stage,
  random: Random,
  index: number,
): Promise<void> {
  const { name, steps, signers = [] } = await drawPayerSteps(victim, random, `fresh ${index}`)
  const others = signersOf(victim, steps, signers)
  const content = contentOf({ scenario, victim, random, steps, others })
  const unsigned = signContent(content)
  const before = readHoldings(scenario.solana, victim)
  const takes = await wouldTake(scenario.solana, { transaction: unsigned.base64, before, victim })
  if (takes) counts.drains += 1
  const answer = await scenario.service.api<{ transaction: string }>(
    'POST',
    '/relayers/main/sign-transaction',
    {
      transaction: unsigned.base64,
    },
  )
  tally.check(
    [200, 400].includes(answer.status),
    () => `${name} was answered ${answer.status}: ${answer.body.error}`,
  )
  if (answer.status !== 200) return
  counts.signed += 1
  const loss = await execute(scenario, { victim, before, transaction: answer.body.data.transaction })
  if (loss.isExecuted) counts.executed += 1
  tally.check(loss.text === undefined, () => `${name}: ${loss.text}`)
}

/** Everyone but the payer whose signature an instruction needs. */
function signersOf({ attacker, payer }: Victim, steps: readonly Step[], more: readonly Wallet[]): Wallet[] {
  const needed = steps.flatMap(({ accounts }) =>
    accounts.filter(({ signs }) => signs).map((use) => use.address),
  )
  const known = [attacker, ...more].filter((wallet) => needed.includes(wallet.address))
  return [...new Set(known)].filter((wallet) => wallet.address !== payer)
}

interface Composition {
  readonly scenario: SolanaScenario
  readonly victim: Victim
  readonly random: Random
  readonly steps: readonly Step[]
  readonly others: readonly Wallet[]
}

/** The payer's signature is worth nothing here: the service has to make it. Sometimes accounts come from a table. */
function contentOf({ scenario, victim, random, steps, others }: Composition): Content {
  const { blockhash } = scenario.solana.blocks.at(-2) ?? { blockhash: '' }
  const payer: Wallet = { address: address(MAIN), key: walletNamed('nobody').key }
  const signers: readonly [Wallet, ...Wallet[]] = random.chance(0.5)
    ? [payer, ...others]
    : [payer, ...withAttacker(victim, others)]
  const table = victim.possessions.table
  if (table === undefined || !random.chance(0.2)) return { signers, blockhash, steps }
  const writable = victim.tableAddresses.filter(
    (one) => random.chance(0.5) && signers.every((each) => each.address !== one),
  )
  const tables = { [table]: victim.tableAddresses }
  return { signers, blockhash, steps, lookups: [{ table, writable }], tables }
}

/** A transaction that others sign, too, is under stricter rules; the policy has to be as strict without them. */
function withAttacker({ attacker }: Victim, others: readonly Wallet[]): readonly Wallet[] {
  return others.includes(attacker) ? others : [...others, attacker]
}

interface Signed {
  readonly victim: Victim
  readonly before: Holdings
  readonly transaction: string
}

async function execute({ solana }: SolanaScenario, { victim, before, transaction }: Signed) {
  const signature = await submitTo(solana, transaction)
  solana.tick()
  const applied = signature === undefined ? undefined : solana.included(signature)
  const after = readHoldings(solana, victim)
  const fee = applied?.fee ?? 0n
  const text = fee > MAX_FEE ? `the fee was ${fee}` : lossBetween(before, after, fee)
  return { isExecuted: applied?.err === null, text }
}
