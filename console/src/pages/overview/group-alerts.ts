import type { Schemas } from '../../../../clients/typescript/src/index.ts'

type Alert = Schemas['Alert']

/** Alerts that are about one thing: those of a network and its endpoints have one cause. */
export type AlertGroup = readonly [Alert, ...Alert[]]

/** Puts the alerts of a network and of its endpoints together, and leaves the others alone. */
export function groupAlerts(alerts: readonly Alert[]): readonly AlertGroup[] {
  const groups = Map.groupBy(alerts, (alert) => networkOf(alert) ?? alert)
  return [...groups.values()] as unknown as readonly AlertGroup[]
}

function networkOf({ alert, network }: Alert): string | undefined {
  return alert === 'endpoint_down' || alert === 'chain_halted' ? network : undefined
}
