import type { ScVal } from '@stellar/stellar-sdk/xdr'
import type { Answer } from '../../answer.ts'
import type { ToldPrice } from '../../capabilities.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { OraclePrice } from '../../sponsoring.ts'
import type { ScValue } from '../model/operation.ts'
import { isContractAddress } from '../model/strkey.ts'
import { integerIn, readContract } from './tokens.ts'

/** A price of an oracle, without the decimals that all its prices have. */
interface PriceData {
  readonly price: bigint
  readonly at: Date
}

/** Reads the price of lumens in a token from an oracle (SEP-40), by simulations of `lastprice`. */
export async function readOraclePrice(
  client: PooledClient,
  { contract = '', native = '', token }: OraclePrice,
): Promise<Answer<ToldPrice>> {
  if (!isContractAddress(contract)) return unusable(`${contract} is not the address of a contract`)
  const lumens = await readPrice(client, contract, native)
  if (lumens.kind !== 'ok') return lumens
  if (token === undefined) {
    const decimals = await readContract(client, { contract, name: 'decimals' })
    if (decimals.kind !== 'ok') return decimals
    const count = integerIn(decimals.value) ?? -1n
    if (count < 0n || count > 38n) return unusable(`oracle ${contract} did not return its decimals`)
    const { price, at } = lumens.value
    return { kind: 'ok', value: { numerator: price, denominator: 10n ** count, at } }
  }
  const unit = await readPrice(client, contract, token)
  if (unit.kind !== 'ok') return unit
  const at = new Date(Math.min(unit.value.at.getTime(), lumens.value.at.getTime()))
  return { kind: 'ok', value: { numerator: lumens.value.price, denominator: unit.value.price, at } }
}

/** `Asset` of SEP-40: a contract on the network, or the symbol of anything else. */
function assetArgument(name: string): ScValue {
  return isContractAddress(name)
    ? { vec: [{ symbol: 'Stellar' }, { address: name }] }
    : { vec: [{ symbol: 'Other' }, { symbol: name }] }
}

async function readPrice(client: PooledClient, contract: string, name: string): Promise<Answer<PriceData>> {
  if (!isContractAddress(name) && !/^[A-Za-z0-9_]{1,32}$/.test(name))
    return unusable(`"${name}" is not the symbol of an asset`)
  const answer = await readContract(client, { contract, name: 'lastprice', args: [assetArgument(name)] })
  if (answer.kind !== 'ok') return answer
  const fields = fieldsIn(answer.value)
  const [price, time] = [integerIn(fields.get('price')), integerIn(fields.get('timestamp'))]
  // A larger time is no date.
  if (price === undefined || price <= 0n || time === undefined || time > 2n ** 40n)
    return unusable(`oracle ${contract} has no price for ${name}`)
  return { kind: 'ok', value: { price, at: new Date(Number(time) * 1_000) } }
}

/** An oracle without a price returns void. */
function fieldsIn(value: ScVal): ReadonlyMap<string, ScVal> {
  const entries = value.type === 'scvMap' ? (value.map ?? []) : []
  return new Map(entries.map(({ key, val }) => [key.type === 'scvSymbol' ? key.sym.toString() : '', val]))
}

function unusable(detail: string): Answer<never> {
  return { kind: 'unknown', detail }
}
