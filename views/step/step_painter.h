// Draws a scene of the step-through: the same code for the screen, PNG and SVG.
#pragma once

#include "views/step/step_scene.h"

class QPainter;

namespace gs {

struct Theme;

/// Draws the whole scene, without its background.
void paintStepScene(QPainter& painter, const StepScene& scene, const Theme& theme);

} // namespace gs
