import { Counter, Histogram, type Registry } from 'prom-client'
import type { DeliveryObserver } from '../notifications/delivery/observer.ts'

/** Counts the tries of this process to deliver events to webhooks. */
export function createDeliveryMetrics(registry: Registry): DeliveryObserver {
  const registers = [registry]
  const tries = new Counter({
    name: 'webhook_deliveries_total',
    help: 'Tries to deliver an event: delivered, retried (failed, and tried again later) or dead (given up).',
    labelNames: ['outcome'],
    registers,
  })
  const latency = new Histogram({
    name: 'webhook_delivery_seconds',
    help: 'Time until a receiver answered or the try failed.',
    labelNames: ['outcome'],
    registers,
  })
  return {
    tried: ({ outcome, seconds }) => {
      tries.inc({ outcome })
      latency.observe({ outcome }, seconds)
    },
  }
}
