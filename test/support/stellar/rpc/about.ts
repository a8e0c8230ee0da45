import type { Node } from './node.ts'

/** stellar-rpc methods/get_health.go. */
export function getHealth(node: Node): unknown {
  return {
    status: 'healthy',
    latestLedger: node.latest().sequence,
    oldestLedger: node.oldest().sequence,
    ledgerRetentionWindow: node.ledger.network.retentionLedgers,
  }
}

/** stellar-rpc methods/get_network.go. */
export function getNetwork({ ledger: { network } }: Node): unknown {
  return { passphrase: network.passphrase, protocolVersion: network.protocolVersion }
}

/** stellar-rpc methods/get_version_info.go. */
export function getVersionInfo({ ledger: { network } }: Node): unknown {
  return {
    version: '25.0.0',
    commitHash: '',
    buildTimestamp: '',
    captiveCoreVersion: 'ledger for tests',
    protocolVersion: network.protocolVersion,
  }
}
