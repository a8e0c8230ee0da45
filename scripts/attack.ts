/**
 * Attacks a service that it starts itself, on loopback, and reports each promise of SECURITY.md that broke.
 *
 *     npm run attack -- --rounds 1
 *     npm run attack -- --seed 7 --only ssrf,auth
 *
 * Round n has the seed `--seed` + n, so a round that found something is repeated with its own seed and `--rounds 1`.
 */
import { createRandom } from '../test/support/random.ts'
import type { Attack, Report } from './attack/attack.ts'
import { auth } from './attack/auth.ts'
import { worstBodies } from './attack/bodies/worst-bodies.ts'
import { deniedPayments } from './attack/denied-payments.ts'
import { hostileReceiver } from './attack/hostile-receiver.ts'
import { hostileRpc } from './attack/hostile-rpc.ts'
import { plugins } from './attack/plugins.ts'
import { reorganisations } from './attack/reorganisations.ts'
import { slowClients } from './attack/slow-clients.ts'
import { solanaDrains } from './attack/solana-drains.ts'
import { sponsoredDrains } from './attack/sponsored-drains.ts'
import { ssrf } from './attack/ssrf.ts'
import { stellarMoney } from './attack/stellar/stellar-money.ts'
import { x402Payers } from './attack/x402-payers.ts'
import { readOptions } from './read-options.ts'

const ATTACKS: readonly Attack[] = [
  worstBodies,
  auth,
  ssrf,
  solanaDrains,
  sponsoredDrains,
  hostileRpc,
  hostileReceiver,
  slowClients,
  stellarMoney,
  deniedPayments,
  reorganisations,
  plugins,
  x402Payers,
]

/** An attack that names no other deadline takes a quarter of this. A service that hangs must not hang the run as well. */
const DEADLINE_MS = 120_000

const { values } = readOptions({
  options: {
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: ATTACKS.map(({ name }) => name).join(',') },
    rounds: { type: 'string', default: '3' },
  },
})

interface Row extends Report {
  readonly seed: number
  readonly name: string
  readonly seconds: number
}

/** The service runs in this process, so an error that no one catches would have ended it. */
const uncaught: string[] = []
process.on('uncaughtException', (error) => uncaught.push(error.stack ?? error.message))

const chosen = values.only.split(',').map(attackOf)
const first = Number(values.seed)
const rows: Row[] = []
for (let seed = first; seed < first + Number(values.rounds); seed += 1)
  for (const attack of chosen) {
    const row = await perform(attack, seed)
    rows.push(row)
    say(summaryOf(row))
    for (const finding of row.findings) say(`  FINDING ${finding}`)
    for (const note of row.notes) say(`  ${note}`)
  }

const found = rows.filter(({ findings }) => findings.length > 0)
say(`\n${['seed', 'attack', 'checks', 'findings', 'seconds'].map((title) => title.padEnd(18)).join('')}`)
for (const { seed, name, checks, findings, seconds } of rows)
  say([seed, name, checks, findings.length, seconds].map((cell) => String(cell).padEnd(18)).join(''))
say(`${found.length} of ${rows.length} attacks found something`)
// What an attack leaves open, such as a socket of the other side, must not keep the process alive.
process.exit(found.length === 0 ? 0 : 1)

function attackOf(name: string): Attack {
  const attack = ATTACKS.find((one) => one.name === name)
  if (attack === undefined)
    throw new Error(`--only: "${name}" is none of ${ATTACKS.map((one) => one.name).join(', ')}`)
  return attack
}

async function perform({ name, run, deadlineMs = DEADLINE_MS }: Attack, seed: number): Promise<Row> {
  const started = Date.now()
  const deadline = Promise.withResolvers<Report>()
  const timer = setTimeout(() => deadline.resolve(failed(`no end within ${deadlineMs} ms`)), deadlineMs)
  const random = createRandom(seed).fork(name)
  const report = await Promise.race([run({ random }).catch(failedBy), deadline.promise])
  clearTimeout(timer)
  const died = uncaught.splice(0).map((stack) => `an error that no one caught: ${stack}`)
  const empty = report.checks === 0 && report.findings.length === 0 ? ['it checked nothing'] : []
  const findings = [...report.findings, ...died, ...empty]
  return { ...report, findings, seed, name, seconds: Math.round((Date.now() - started) / 1_000) }
}

function failed(finding: string): Report {
  return { checks: 0, findings: [finding], notes: [] }
}

function failedBy(error: Error): Report {
  return failed(error.stack ?? error.message)
}

function summaryOf({ seed, name, checks, findings, seconds }: Row): string {
  const result = findings.length === 0 ? 'held' : `${findings.length} FINDINGS`
  return `seed ${seed}, ${name}: ${checks} checks, ${result}, ${seconds} s`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
