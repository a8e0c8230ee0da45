import { Gauge, type Registry } from 'prom-client'
import type { HealthReading } from '../relayers/health/reading.ts'
import type { Labels } from './bounded-label.ts'
import { setGauge } from './set-gauge.ts'

const LABELS = ['relayer_id', 'network_type', 'network'] as const

/** Creates the gauges of what the health checks of this process read; other processes show none of them. */
export function createRelayerMetrics(
  registry: Registry,
  { relayer, network }: Labels,
): (readings: readonly HealthReading[]) => void {
  const registers = [registry]
  const balance = new Gauge({
    name: 'relayer_balance',
    help: 'Balance that the relayer can spend, in whole coins of its network (ETH, XLM, SOL), as the last health check read it. other: the lowest.',
    labelNames: LABELS,
    registers,
  })
  const nonceGap = new Gauge({
    name: 'relayer_nonce_gap',
    help: 'Next nonce that the service assigns minus the next one of the chain, as the last health check read them. Negative: another program uses the account.',
    labelNames: LABELS,
    registers,
  })
  return (readings) => {
    const valuesOf = (field: 'balance' | 'nonceGap') =>
      readings.flatMap((reading) => {
        const value = reading[field]
        if (value === undefined) return []
        const { relayerId, networkType } = reading
        const labels = {
          relayer_id: relayer(relayerId),
          network_type: networkType,
          network: network(reading.network),
        }
        return [{ labels, value }]
      })
    setGauge(balance, valuesOf('balance'), Math.min)
    setGauge(nonceGap, valuesOf('nonceGap'), furtherFromZero)
  }
}

function furtherFromZero(one: number, other: number): number {
  return Math.abs(other) > Math.abs(one) ? other : one
}
