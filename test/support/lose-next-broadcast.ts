import type { FaultyNode } from './faulty-node.ts'

/**
 * The next broadcast, whichever of the nodes is asked, is taken and its reply is lost; that node is silent from then on. Returns a function
 * that makes the nodes answer again.
 */
export function loseNextBroadcast(nodes: readonly FaultyNode[], method: string): () => void {
  let silent: FaultyNode | undefined
  for (const node of nodes) {
    node.fault = (methods) => {
      if (silent === node) return 'drop'
      if (silent !== undefined || !methods.includes(method)) return 'pass'
      silent = node
      return 'lose'
    }
  }
  return () => {
    for (const node of nodes) node.fault = () => 'pass'
  }
}
