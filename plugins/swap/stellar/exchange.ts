import { Asset, Keypair, xdr } from '@stellar/stellar-sdk'
import { isRecord, NodeError, type Rpc, rpcOf, Unavailable, type World } from '../../shared/host.ts'
import { askHttp } from '../../shared/http-price.ts'
import { BASIS_POINTS } from '../../shared/prices.ts'
import type { StellarRouter, Swap } from '../config.ts'
import { type Exchange, Refusal, type Sale, type SwapRecord } from '../exchange.ts'
import { accountOf, coinsOf, networkOf } from '../relayer.ts'

/** The smallest unit of lumens is 10^-7. */
const COIN_DECIMALS = 7

/** The most that a sale bids for its inclusion, in stroops; the network charges the price of the ledger. */
const MAX_FEE = 1_000_000n

/** The least that the service accepts as a bound, in stroops. */
const LEAST_FEE = 200n

/**
 * Makes the market of a swap on Stellar: a path payment of the account to itself. The network keeps its
 * minimum, and takes nothing without it, so nothing is approved before and nothing is unwrapped after.
 * @throws Refusal for a relayer on another network
 */
export async function openStellarExchange(swap: Swap<StellarRouter>, world: World): Promise<Exchange> {
  const { relayerId, router, token, mostCostBps } = swap
  const rpc = rpcOf(world, relayerId)
  const [account, network] = await Promise.all([accountOf(relayerId, world), networkOf(relayerId, world)])
  if (network !== router.network)
    throw new Refusal('wrong_network', `The relayer ${relayerId} is on ${network}, not on ${router.network}.`)
  const none = async () => undefined
  return {
    router: `stellar:${network}`,
    coinDecimals: COIN_DECIMALS,
    async holdings() {
      const [coin, tokens] = await Promise.all([coinsOf(relayerId, world), readLine(account, token, rpc)])
      return { coin, token: tokens }
    },
    ask: async (source, now) => {
      if (source.type === 'http') return askHttp(source, now)
      if (source.type === 'fixed') return source.price
      throw new Error('the settings have no such source on Stellar')
    },
    /** No node simulates a path payment: the network is asked by the transaction itself. */
    async rehearse({ amount, least }) {
      const share = (least * mostCostBps) / BASIS_POINTS
      const capped = share < MAX_FEE ? share : MAX_FEE
      const cost = capped < LEAST_FEE ? LEAST_FEE : capped
      return { sold: amount, bought: least, cost, bounds: { max_fee: cost.toString() } }
    },
    before: none,
    bodyOf: (sale) => pathPayment(account, swap, sale),
    moved: (record) => movedIn(record, account, token),
    after: () => undefined,
    cleanup: none,
  }
}

function pathPayment(
  destination: string,
  { token, router: { network, path } }: Swap<StellarRouter>,
  { amount, least }: Sale,
): object {
  const operation = {
    type: 'path_payment_strict_send',
    send_asset: assetIn(token),
    send_amount: amount.toString(),
    destination,
    dest_asset: { type: 'native' },
    dest_min: least.toString(),
    ...(path.length > 0 && { path: path.map(assetIn) }),
  }
  return { network, operations: [operation] }
}

function assetIn(name: string): object {
  const [code = '', issuer = ''] = name.split(':')
  return { type: code.length > 4 ? 'credit12' : 'credit4', code, issuer }
}

/** `AUTHORIZED_FLAG` of `TrustLineFlags`. */
const AUTHORIZED = 1

/** Reads what the account can pay of an asset; 0 without a trust line. */
async function readLine(account: string, token: string, rpc: Rpc): Promise<bigint> {
  const [code = '', issuer = ''] = token.split(':')
  const key = xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({
      accountId: Keypair.fromPublicKey(account).xdrAccountId(),
      asset: new Asset(code, issuer).toTrustLineXDRObject(),
    }),
  ).toXdr('base64')
  const answer = await rpc<unknown>('getLedgerEntries', { keys: [key] }).catch((error: unknown) => {
    throw error instanceof NodeError ? new Unavailable(error.message) : error
  })
  const entries = isRecord(answer) ? answer.entries : undefined
  if (!Array.isArray(entries)) throw new Unavailable('The node does not tell the trust line.')
  const [entry] = entries.filter(isRecord)
  if (entry === undefined) return 0n
  const data = xdr.LedgerEntryData.fromXdr(String(entry.xdr), 'base64')
  if (data.type !== 'trustline') throw new Unavailable('The node tells something else than the trust line.')
  const { balance, flags, ext } = data.trustLine
  if ((flags & AUTHORIZED) === 0) return 0n
  return balance - (ext.type === 'v1' ? ext.v1.liabilities.selling : 0n)
}

/**
 * Adds up what the results of a ledger tell: the lumens that arrived, and the tokens that left for them.
 * Pure.
 */
function movedIn({ transfers = [] }: SwapRecord, account: string, token: string) {
  const told = transfers.filter(({ expected, from }) => expected !== true && from === account)
  const sum = (list: typeof told) => list.reduce((total, { amount }) => total + BigInt(amount), 0n)
  return {
    sold: sum(told.filter(({ asset, to }) => asset === token && to !== account)),
    bought: sum(told.filter(({ asset, to }) => asset === 'native' && to === account)),
  }
}
