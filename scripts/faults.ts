/**
 * Runs random histories of the whole service against a node that fails, and checks the promises against the chain.
 *
 *     npm run faults -- --seed 7 --histories 100 --steps 40 --kills --endpoints 2
 *     npm run faults -- --chain stellar --channels 2
 *     npm run faults -- --chain solana
 *     npm run faults -- --fees
 *     npm run faults -- --refusals
 *     npm run faults -- --reorganisations
 *     npm run faults -- --processes 2 --kills
 *     npm run faults -- --fail-over
 *     npm run faults -- --endpoints 3 --liar --fees
 *     npm run faults -- --fronts --chain solana --steps 20
 *     npm run faults -- --fronts --gasless
 *     npm run faults -- --schedules --kills --fail-over --steps 2
 *
 * Options:
 *
 *     --chain evm|stellar|solana  the chain; evm when absent
 *     --channels N                channel accounts of a relayer, on Stellar; 0 when absent
 *     --endpoints N               nodes; 1 when absent
 *     --seed N                    the seed of the first history; 1 when absent
 *     --histories N               50 when absent
 *     --steps N                   of each history; 30 when absent
 *     --kills                     also kills the process
 *     --fees                      chains that stand still, builders that include nothing, and markets that fall; EVM
 *     --refusals                  nodes that refuse some content permanently, in words that no one knows; EVM
 *     --reorganisations           chains that lose blocks that were final, while other relayers go on paying; EVM
 *     --liar                      the first endpoint of several lies about prices, gas, balances, nonces and blocks
 *     --pools                     a relayer with two accounts
 *     --processes N               processes of the service on one PostgreSQL; 1 when absent, on the embedded database
 *     --fail-over                 the server of the database is killed, and its synchronous standby promoted; 2 processes when absent
 *     --fronts                    buyers, sellers, hostile wallets and tokens, and strangers at the facilitator of x402
 *     --gasless                   with --fronts: users of gasless requests instead; EVM
 *     --schedules                 schedules, on PostgreSQL and 2 processes when --processes is absent; EVM
 *     --keep-going                goes on after a history that fails
 *
 * History n has the seed `--seed` + n, so a failing one is replayed alone with its own seed and `--histories 1`.
 */
import { runCampaign } from './faults/campaign.ts'
import { startEvmTestChain } from './faults/evm/test-chain.ts'
import { type FrontChainName, type FrontHistory, runFronts } from './faults/fronts/campaign.ts'
import { runGasless } from './faults/fronts/gasless.ts'
import type { History } from './faults/history.ts'
import { runSchedules } from './faults/schedules/campaign.ts'
import type { ScheduleHistory } from './faults/schedules/history.ts'
import { startSolanaTestChain } from './faults/solana/test-chain.ts'
import { SHORT_RETENTION, startStellarTestChain } from './faults/stellar/test-chain.ts'
import { describeStep } from './faults/step.ts'
import type { TestBedOptions } from './faults/test-bed.ts'
import { readOptions } from './read-options.ts'

const { values } = readOptions({
  options: {
    chain: { type: 'string', default: 'evm' },
    channels: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    histories: { type: 'string', default: '50' },
    steps: { type: 'string', default: '30' },
    endpoints: { type: 'string', default: '1' },
    kills: { type: 'boolean', default: false },
    fees: { type: 'boolean', default: false },
    refusals: { type: 'boolean', default: false },
    reorganisations: { type: 'boolean', default: false },
    pools: { type: 'boolean', default: false },
    liar: { type: 'boolean', default: false },
    processes: { type: 'string' },
    'fail-over': { type: 'boolean', default: false },
    fronts: { type: 'boolean', default: false },
    gasless: { type: 'boolean', default: false },
    schedules: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
  },
})

let failures = 0
const started = Date.now()
const first = Number(values.seed)
const seeds = Array.from({ length: Number(values.histories) }, (_, index) => first + index)
if (values.fronts) {
  const campaign = { seeds, steps: Number(values.steps), onHistory: sayFront }
  if (values.gasless) await runGasless(campaign)
  else await runFronts({ ...campaign, chain: chainName(values.chain) })
  say(`${failures} of ${values.histories} histories failed, ${Math.round((Date.now() - started) / 1_000)} s`)
  process.exit(failures === 0 ? 0 : 1)
}
if (values.schedules) {
  await runSchedules({
    seeds,
    steps: Number(values.steps),
    kills: values.kills,
    processes: Number(values.processes ?? 2),
    storage: values['fail-over'] ? 'replicated' : 'postgres',
    onHistory: saySchedules,
  })
  say(`${failures} of ${values.histories} histories failed, ${Math.round((Date.now() - started) / 1_000)} s`)
  process.exit(failures === 0 ? 0 : 1)
}
const late = await runCampaign({
  seeds,
  steps: Number(values.steps),
  kills: values.kills,
  processes: Number(values.processes ?? (values['fail-over'] ? 2 : 1)),
  storage: values['fail-over'] ? 'replicated' : values.processes === undefined ? 'embedded' : 'postgres',
  startTestChain: testChainOf(values.chain),
  onHistory: (history) => {
    say(summaryOf(history))
    if (history.violations.length === 0) return true
    failures += 1
    say(storyOf(history))
    return values['keep-going']
  },
})
for (const violation of late) say(`at the end: ${violation}`)
say(`${failures} of ${values.histories} histories failed, ${Math.round((Date.now() - started) / 1_000)} s`)
process.exitCode = failures + late.length === 0 ? 0 : 1

function testChainOf(chain: string): TestBedOptions['startTestChain'] {
  const endpoints = Number(values.endpoints)
  const { fees, refusals, reorganisations, pools, liar } = values
  switch (chainName(chain)) {
    case 'evm':
      return () => startEvmTestChain({ endpoints, fees, refusals, reorganisations, pools, liar })
    case 'stellar': {
      const channels = Number(values.channels)
      return (now) =>
        startStellarTestChain({ endpoints, channels, pools, liar, now, retentionLedgers: SHORT_RETENTION })
    }
    case 'solana':
      return (now) => startSolanaTestChain({ endpoints, pools, liar, now })
  }
}

function chainName(chain: string): FrontChainName {
  if (chain === 'evm' || chain === 'stellar' || chain === 'solana') return chain
  throw new Error(`--chain: "${chain}" is none of evm, stellar and solana`)
}

function sayFront({ seed, steps, summary, violations }: FrontHistory): boolean {
  say(`seed ${seed}: ${steps.length} steps; ${summary}${violations.length === 0 ? '' : ' - FAILED'}`)
  if (violations.length === 0) return true
  failures += 1
  say(`  ${steps.join(', ')}`)
  for (const violation of violations) say(`  VIOLATION ${violation}`)
  return values['keep-going']
}

function saySchedules({
  seed,
  story,
  outcomes: { sent, refused, skipped },
  violations,
}: ScheduleHistory): boolean {
  const failed = violations.length === 0 ? '' : ' - FAILED'
  say(`seed ${seed}: ${sent} sent, ${refused} refused, ${skipped} skipped${failed}`)
  if (violations.length === 0) return true
  failures += 1
  for (const line of story) say(`  ${line}`)
  for (const violation of violations) say(`  VIOLATION ${violation}`)
  return values['keep-going']
}

function summaryOf({ seed, plan, ledger, records, violations }: History): string {
  const count = (said: string) => ledger.asks.filter((ask) => ask.said === said).length
  const statuses = Map.groupBy(records, ({ status }) => status)
  const ends = [...statuses].map(([status, same]) => `${same.length} ${status}`).join(', ')
  const raises = records.flatMap(({ attempts }) => attempts.filter(({ kind }) => kind === 'speed_up')).length
  const asked = `${count('accepted')} accepted, ${count('refused')} refused, ${count('unknown')} unanswered`
  return `seed ${seed}: ${plan.length} steps; ${asked}; ${ends || 'no records'}; ${raises} raises${violations.length === 0 ? '' : ' - FAILED'}`
}

/** Everything that a person needs to replay and to understand it. */
function storyOf({ plan, ledger, violations }: History): string {
  return [
    ...plan.map((step, index) => `  step ${index + 1}: ${describeStep(step)}`),
    ...ledger.asks.map(
      ({ kind, account, id, content, said, answer }) =>
        `  ${kind} account ${account} ${id ?? ''} ${content?.mark ?? ''}: ${said} (${answer})`,
    ),
    ...violations.map((violation) => `  VIOLATION ${violation}`),
  ].join('\n')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
