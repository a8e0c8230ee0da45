import type { Unit } from '../chains/chain.ts'
import type { NetworkType } from '../networks/network.ts'
import type { HealthReading } from '../relayers/health/reading.ts'
import { networkOf } from '../relayers/network-of.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Finding } from './alert.ts'
import { notificationsOf } from './notifications-of.ts'

/** The part of `warn_balance`, in percent, from which on the balance counts as enough again. */
const ENOUGH_PERCENT = 110n

const UNITS: Readonly<Record<NetworkType, Unit>> = { evm: 'wei', solana: 'lamports', stellar: 'stroops' }

/** Compares the balances that the last checks read with the policies `warn_balance`. Pure. */
export function findLowBalances(relayers: readonly Relayer[], readings: readonly HealthReading[]): Finding[] {
  const read = new Map(readings.map((reading) => [reading.relayerId, reading]))
  return relayers.flatMap((relayer) => {
    const { warnBalance } = relayer.policies
    return warnBalance === undefined ? [] : [compare(relayer, warnBalance, read.get(relayer.id))]
  })
}

function compare(relayer: Relayer, threshold: bigint, reading: HealthReading | undefined): Finding {
  const { id, networkType, network, address } = relayer
  // A number of another network says nothing.
  const balance = reading?.network === network ? reading.spendable : undefined
  const isLow = balance !== undefined && balance < threshold
  const isEnough = balance !== undefined && !isLow && balance * 100n >= threshold * ENOUGH_PERCENT
  const amounts = `${balance} ${UNITS[networkType]}, and its warn_balance is ${threshold}`
  return {
    kind: 'balance_low',
    subject: id,
    state: isLow ? 'firing' : isEnough ? 'over' : 'unclear',
    notifications: notificationsOf([relayer]),
    detail: {
      message: isLow
        ? `Relayer ${id} can spend ${amounts}. Send funds to ${address}.`
        : `Relayer ${id} can spend ${amounts}.`,
      network: networkOf(relayer),
      relayer_id: id,
      value: String(balance),
      threshold: String(threshold),
    },
  }
}
