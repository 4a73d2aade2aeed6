// Makes what the Export dialog shows and saves, and writes it. Text of the core off the GUI thread; pictures
// on it, since only there widgets paint, but never while a view still works.
#pragma once

#include "app/export/export_items.h"
#include "app/picture.h"
#include "views/view.h"

#include <QImage>
#include <QPointer>
#include <QSize>
#include <QTimer>
#include <memory>

namespace gs {

/// What is exported from.
struct ExportSource {
    SnapshotPtr snapshot; ///< not null
    Selection selection;
    CompareStatePtr compare;
    std::function<QWidget*(const QString& view)> live; ///< a view as it stands; may answer null
    QWidget* window = nullptr;
};

struct ExportChoice {
    QString target; ///< of the exporter; empty = the newest
    PictureFormat format = PictureFormat::Svg;
    QSize size; ///< of a picture in points; empty = as on screen
    double scale = 2;
};

struct ExportProduct {
    std::shared_ptr<const std::string> bytes; ///< null if it failed
    QStringList warnings;
    QImage picture; ///< what a picture looks like; null for texts
    QSize size;     ///< of a picture in points
    std::optional<Error> error;
};

class ExportMaker : public QObject {
    Q_OBJECT
public:
    explicit ExportMaker(ExportSource source, QObject* parent = nullptr);
    ~ExportMaker() override;

    const ExportSource& source() const { return source_; }
    /// Answers once with made(); an earlier request is dropped.
    void make(const ExportItem& item, const ExportChoice& choice);
    /// Answers once with written().
    void write(const std::shared_ptr<const std::string>& bytes, const QString& file);
    bool busy() const { return busy_; }

signals:
    void made(const gs::ExportProduct& product);
    void written(const QString& file, const gs::Status& status);

private:
    void makeText(const Exporter& exporter, const std::string& target);
    void makePicture(const ExportItem& item, const ExportChoice& choice);
    void pollView();
    void paint(QWidget* widget);
    void finish(const ExportProduct& product);

    ExportSource source_;
    uint64_t generation_ = 0;
    bool busy_ = false;
    ExportChoice choice_;        ///< of the picture that is being made
    std::unique_ptr<View> view_; ///< made for a picture of another size
    QTimer poll_;
    int polls_ = 0;
    int quiet_polls_ = 0;
};

} // namespace gs
