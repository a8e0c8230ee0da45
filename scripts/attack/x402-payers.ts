import { type Hex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { TOKEN_CODE, TWO_FACED_WALLET_CODE } from '../../test/plugins/x402/contract-code.ts'
import { paymentBy } from '../../test/plugins/x402/evm-payment.ts'
import { type EvmSite, FUNDS, NETWORK, startEvmSite, TOKEN } from '../../test/plugins/x402/evm-site.ts'
import { pluginEntry, untilReady } from '../../test/plugins/x402/plugin-entry.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'

/**
 * Strangers at an open path of x402 try to cost the operator more than docs/security-model.md states: wallets that refuse or burn gas in the block,
 * worthless tokens, payments to themselves, forty payments with funds for one. Honest buyers pay in between, and must be served.
 */
export const x402Payers: Attack = { name: 'x402-payers', deadlineMs: 600_000, run }

const WALLET = parseAbi(['constructor(bool burns)'])

/** The bounds of the run; those that are stated are larger, and hold in the same way. */
const MAX_GAS = 500_000
const FAILURES = { payer: 2, payee: 6, all: 8, open: 6 }
const OPEN_SETTLEMENTS = 25

/** What an attacker does in a run. */
const ATTEMPTS = 60

interface Sent {
  readonly status: string
  readonly data?: string
  readonly gas_limit?: number
  readonly receipt?: { readonly gas_used: number }
}

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const limits = [{ per: 'open', window_seconds: 86_400, settlements: OPEN_SETTLEMENTS }]
  const entry = (id: string, more: object, open: object = {}) =>
    pluginEntry([], {
      id,
      mount: `/${id}`,
      config: {
        networks: [{ network: NETWORK, relayer_id: 'main', ...more }],
        failures: FAILURES,
        limits,
        wait_for: 'confirmed',
        timeout_seconds: 20,
      },
      ...open,
    })
  const site = await startEvmSite(
    { network: { required_confirmations: 1 }, plugins: [entry('open', {}, { open_mount: true })] },
    ['--block-time', '1'],
  )
  try {
    await untilReady(site.service, 'open')
    await attack(site, random, tally)
  } finally {
    await site.stop()
  }
  return tally.report()
}

interface Answer {
  readonly success?: boolean
  readonly errorReason?: string
  readonly payer?: string
}

async function settle(site: EvmSite, body: unknown): Promise<Answer> {
  const response = await fetch(`${site.service.url}/open/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Answer
}

async function attack(site: EvmSite, random: AttackContext['random'], tally: Tally): Promise<void> {
  const owner = await site.payer(0n)
  const worthless = await site.deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
  const relayed = () => site.service.api<readonly Sent[]>('GET', '/relayers/main/transactions?per_page=100')
  const wallets: Hex[] = []
  for (let count = 0; count < 4; count += 1) {
    const wallet = await site.deploy(TWO_FACED_WALLET_CODE, WALLET, [random.chance(0.5)])
    await site.mint(wallet, FUNDS)
    wallets.push(wallet)
  }
  const steps = Array.from({ length: ATTEMPTS }, () => random.int(0, 3))
  const work: Promise<Answer[]>[] = []
  for (const step of steps) {
    if (step === 0) work.push(payFrom(site, owner, { from: random.pick(wallets) }))
    if (step === 1) work.push(freshWallet(site, owner, random.chance(0.5)))
    if (step === 2) work.push(payHimself(site, worthless))
    if (step === 3) work.push(manyAtOnce(site))
    if (work.length % 6 === 0) await Promise.all(work)
  }
  const answers = (await Promise.all(work)).flat()
  const sent = (await relayed()).body.data
  const failed = sent.filter(({ status }) => status === 'failed')
  const paid = answers.filter(({ success }) => success === true).length
  tally.note(`${answers.length} payments: ${sent.length} sent, ${failed.length} failed, ${paid} paid`)
  const most = FAILURES.all + FAILURES.open
  tally.check(failed.length <= most, () => `${failed.length} payments failed; ${most} are stated`)
  tally.check(
    sent.length <= OPEN_SETTLEMENTS,
    () => `${sent.length} were sent; ${OPEN_SETTLEMENTS} are allowed`,
  )
  for (const { gas_limit = 0, receipt } of sent) {
    tally.check(gas_limit <= MAX_GAS, () => `a gas limit of ${gas_limit} was signed; ${MAX_GAS} is allowed`)
    const used = receipt?.gas_used ?? 0
    tally.check(used <= MAX_GAS, () => `a payment used ${used} gas; ${MAX_GAS} is allowed`)
  }
  for (const wallet of wallets) {
    const ofWallet = failed.filter(({ data = '' }) => data.includes(wallet.slice(2).toLowerCase()))
    const { length } = ofWallet
    tally.check(length <= FAILURES.payer, () => `${wallet} made ${length} fail; ${FAILURES.payer} are stated`)
  }
}

async function payFrom(
  site: EvmSite,
  owner: PrivateKeyAccount,
  authorization: { readonly from: Hex },
): Promise<Answer[]> {
  return [await settle(site, await paymentBy(owner, { ...site, authorization }))]
}

async function freshWallet(site: EvmSite, owner: PrivateKeyAccount, burns: boolean): Promise<Answer[]> {
  const from = await site.deploy(TWO_FACED_WALLET_CODE, WALLET, [burns])
  await site.mint(from, FUNDS)
  return payFrom(site, owner, { from })
}

/** Pays in a token of his own to an account of his own. */
async function payHimself(site: EvmSite, token: Hex): Promise<Answer[]> {
  const payer = await site.payer(0n)
  await site.mint(payer.address, FUNDS, token)
  const payTo = (await site.payer(0n)).address
  return [await settle(site, await paymentBy(payer, { token, payTo }))]
}

/** Signs many payments with funds for one. */
async function manyAtOnce(site: EvmSite): Promise<Answer[]> {
  const payer = await site.payer(10_000n)
  const bodies = await Promise.all(Array.from({ length: 10 }, () => paymentBy(payer, site)))
  const answers = await Promise.all(bodies.map((body) => settle(site, body)))
  return answers
}
