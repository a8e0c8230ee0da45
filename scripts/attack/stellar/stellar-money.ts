import { type Keypair, TransactionBuilder } from '@stellar/stellar-sdk'
import type { Random } from '../../../test/support/random.ts'
import type { Transaction } from '../../../test/support/service.ts'
import {
  keypairOf,
  MAIN,
  type StellarScenario,
  startStellarScenario,
  submitTo,
  XLM,
} from '../../../test/support/stellar-scenario.ts'
import { until } from '../../../test/support/until.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from '../attack.ts'
import { drawTransaction, FEES, VICTIM } from './draw-transaction.ts'

/** Asks the relayer to sign and to pay for transactions whose operations move the money of others, and of the relayer. */
export const stellarMoney: Attack = { name: 'stellar-money', run }

/** Attempts of one run, of each way. */
const ATTEMPTS = 25

/** The longest wait for a fee bump to reach a node, in ms. */
const LONGEST_WAIT_MS = 1_500

/** The policy of the relayer, in stroops. */
const MAX_FEE = 1_000n

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const scenario = await startStellarScenario({ relayer: { policies: { max_fee: Number(MAX_FEE) } } })
  try {
    scenario.ledger.fund(VICTIM.publicKey(), 1_000n * XLM)
    const counts = { signed: 0, paid: 0 }
    for (let index = 0; index < ATTEMPTS && !tally.isFull(); index += 1) {
      // What no ledger includes uses up the sequence number of its source, so each attempt has an attacker of its own.
      const attacker = keypairOf(`attacker ${index}`)
      scenario.ledger.fund(attacker.publicKey(), 1_000n * XLM)
      if (await trySign(tally, scenario, { attacker, random: random.fork(`sign ${index}`) }))
        counts.signed += 1
      if (await tryFeeBump(tally, scenario, { attacker, random: random.fork(`bump ${index}`) }))
        counts.paid += 1
    }
    tally.check(counts.signed > 0, () => 'nothing was signed')
    tally.check(counts.paid > 0, () => 'no fee was paid')
    tally.note(`${ATTEMPTS} attempts of each way: ${counts.signed} signed, ${counts.paid} paid for`)
  } finally {
    await scenario.stop()
  }
  return tally.report()
}

interface Draw {
  readonly attacker: Keypair
  readonly random: Random
}

/** What it signs is the caller's order as to its own money; the fee has a limit, and the money of others needs others. */
async function trySign(
  tally: Tally,
  { ledger, service }: StellarScenario,
  { attacker, random }: Draw,
): Promise<boolean> {
  const drawn = drawTransaction({ ledger, random, attacker, sources: [MAIN, attacker, VICTIM], fees: FEES })
  const { name, transaction, isOfRelayer } = drawn
  const body = { unsigned_xdr: transaction.toXDR() }
  const answer = await service.api<{ signedXdr: string }>('POST', '/relayers/main/sign-transaction', body)
  tally.check([200, 400].includes(answer.status), () => `${name} was answered ${answer.status}`)
  if (answer.status !== 200) return false
  tally.check(isOfRelayer, () => `${name} was signed, and nothing in it is of the relayer`)
  const pays = transaction.source === MAIN.publicKey()
  tally.check(
    !pays || BigInt(transaction.fee) <= MAX_FEE,
    () => `${name} was signed with a fee of ${transaction.fee}`,
  )
  const signed = TransactionBuilder.fromXDR(answer.body.data.signedXdr, ledger.passphrase)
  const isSame = Buffer.from(signed.hash()).equals(Buffer.from(transaction.hash()))
  tally.check(isSame, () => `${name} was signed as another transaction`)
  // The relayer's own account goes on to pay in the next attempts, so only what should fail reaches the ledger.
  if (!name.includes('the victim')) return true
  const before = describe(ledger, VICTIM.publicKey())
  await submitTo(ledger, answer.body.data.signedXdr)
  ledger.close()
  tally.check(
    describe(ledger, VICTIM.publicKey()) === before,
    () => `${name} changed the account of the victim`,
  )
  return true
}

/** For what it pays for, the relayer loses the fee at most. */
async function tryFeeBump(
  tally: Tally,
  scenario: StellarScenario,
  { attacker, random }: Draw,
): Promise<boolean> {
  const { ledger, post } = scenario
  const { name, transaction } = drawTransaction({
    ledger,
    random,
    attacker,
    sources: [attacker, attacker, VICTIM],
    fees: ['100'],
  })
  const before = { relayer: ledger.account(MAIN.publicKey()), victim: describe(ledger, VICTIM.publicKey()) }
  const body = { network: 'standalone', transaction_xdr: transaction.toXDR(), fee_bump: true }
  const { status, body: answer } = await post(body)
  tally.check([200, 400].includes(status), () => `the fee bump of ${name} was answered ${status}`)
  if (status !== 200) return false
  await leaves(scenario, answer.data.id)
  ledger.close(2)
  const after = ledger.account(MAIN.publicKey())
  const lost = (before.relayer?.balance ?? 0n) - (after?.balance ?? 0n)
  tally.check(lost <= MAX_FEE, () => `the fee bump of ${name} cost the relayer ${lost} stroops`)
  const isSame = describe(ledger, VICTIM.publicKey()) === before.victim
  tally.check(isSame, () => `the fee bump of ${name} changed the account of the victim`)
  return true
}

/** Waits until a node got the transaction. What no node takes may wait; then there is nothing to lose yet. */
async function leaves({ get }: StellarScenario, id: string): Promise<void> {
  const hasLeft = ({ status }: Transaction) => !['pending', 'sent'].includes(status)
  await until(() => get(id), hasLeft, { timeoutMs: LONGEST_WAIT_MS }).catch(() => {})
}

/** The whole account as text. */
function describe(ledger: StellarScenario['ledger'], address: string): string {
  const show = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
  return JSON.stringify(ledger.account(address), show)
}
