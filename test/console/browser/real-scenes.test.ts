/**
 * The console in a real Chromium, against a real server and worker processes. All scenes share one
 * stage; each fails on what {@link openPage} refuses.
 */
import { afterAll, afterEach, beforeAll, describe, inject } from 'vitest';
import { RUNS_ALL } from '../../support/extent.ts';
import { conversationScenes } from './scenes/conversations.ts';
import { hostileScenes } from './scenes/hostile.ts';
import { largeScenes } from './scenes/large.ts';
import { peopleScenes } from './scenes/people.ts';
import { steeringScenes } from './scenes/steering.ts';
import { tabScenes } from './scenes/tabs.ts';
import { killScene, losingScenes } from './scenes/losing.ts';
import { openSceneStage, type SceneStage, type SceneWorker } from './scenes/scene-stage.ts';

let stage: SceneStage;
let worker: SceneWorker;
beforeAll(async () => {
  stage = await openSceneStage(inject('temporal'));
  worker = await stage.serve();
});
afterEach(() => stage.closePages());
afterAll(() => stage.close());

describe('a person at the console', () => {
  peopleScenes(() => stage);
  steeringScenes(() => stage);
  conversationScenes(() => stage);
  hostileScenes(() => stage);
});

describe.runIf(RUNS_ALL)(
  'a person at the console, when much is open or something goes away',
  () => {
    tabScenes(() => stage);
    largeScenes(() => stage);
    losingScenes(() => stage);
    killScene(
      () => stage,
      () => worker,
    );
  },
);
