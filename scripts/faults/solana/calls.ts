import { type Address, address } from '@solana/kit'
import {
  advanceNonce,
  createWallet,
  type Step,
  signContent,
  transfer,
} from '../../../simulators/solana/wallet.ts'
import { RECEIVER } from '../../../test/support/solana-scenario.ts'
import { type PlannedRequest, replace, send } from '../call.ts'
import { type HistoryRun, targetOf } from '../history-run.ts'
import { accountAt, CUSTOMERS, type Environment } from './environment.ts'
import type { Event, Speed } from './event.ts'

/** A new transfer. */
export function sendPayment(
  environment: Environment,
  run: HistoryRun,
  { account, speed, durable, validForMs }: Extract<Event, { is: 'send' }>,
): Promise<void> {
  return send(run, account, { ...plannedRequest(environment, { account, speed, durable }), validForMs })
}

/** Another transfer in place of one. A durable nonce is the service's to take over. */
export function replacePayment(
  environment: Environment,
  run: HistoryRun,
  { target, speed }: Extract<Event, { is: 'replace' }>,
): Promise<void> {
  const chosen = targetOf(run, target)
  const sent = run.ledger.asks.find(({ kind, id }) => kind === 'send' && id === chosen?.id)
  return replace(run, target, () =>
    plannedRequest(environment, {
      account: chosen?.account ?? 0,
      speed,
      durable: false,
      of: sent?.content?.mark,
    }),
  )
}

/** What a customer pays and has signed, for the relayer to sign first. No one but the customer could give it more time. */
export function sendCosigned(
  environment: Environment,
  run: HistoryRun,
  { account, customer, age }: Extract<Event, { is: 'cosign' }>,
): Promise<void> {
  const { solana, newContent } = environment
  const from = CUSTOMERS[customer] ?? CUSTOMERS[0]
  const { blocks } = solana
  const block = blocks[Math.max(0, blocks.length - 1 - age)]
  if (block === undefined) throw new Error('there are no blocks')
  const content = newContent()
  // What stands in the place of the relayer's signature does not count.
  const payer = { ...createWallet(), address: payerOf(environment, account, content.mark) }
  const { base64 } = signContent({
    signers: [payer, from],
    blockhash: block.blockhash,
    steps: [transfer(from.address, address(RECEIVER), content.amount)],
  })
  return send(run, account, {
    content,
    body: { transaction: base64 },
    may: { mayRevert: true, mayExpire: true, mayFail: true },
  })
}

interface Planned {
  readonly account: number
  readonly speed: Speed
  readonly durable: boolean
  /** The mark of the content that it replaces, because instructions name the account that pays. */
  readonly of?: string | undefined
}

/** Which account of a relayer pays: a further one for every second content. */
function payerOf({ pools }: Environment, account: number, mark: string): Address {
  const { address: own, further } = accountAt(account)
  return pools && further && BigInt(mark) % 2n === 1n ? further.address : own
}

function plannedRequest(environment: Environment, { account, speed, durable, of }: Planned): PlannedRequest {
  const content = environment.newContent()
  // The nonce account is that of the relayer's own account.
  const nonce = durable ? environment.nonces[account] : undefined
  const self =
    nonce === undefined ? payerOf(environment, account, of ?? content.mark) : accountAt(account).address
  const steps = [
    ...(nonce === undefined ? [] : [advanceNonce(nonce, self)]),
    transfer(self, address(RECEIVER), content.amount),
  ]
  return {
    content,
    body: { instructions: steps.map(toWire), ...(speed === 'none' ? {} : { speed }) },
    // Money can go before it is included.
    may: { mayRevert: true },
  }
}

/** An instruction as requests write it. */
function toWire({ program, accounts, data }: Step): object {
  return {
    program_id: program,
    accounts: accounts.map(({ address: pubkey, signs = false, writes = false }) => ({
      pubkey,
      is_signer: signs,
      is_writable: writes,
    })),
    data: Buffer.from(data).toString('base64'),
  }
}
